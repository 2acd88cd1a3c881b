// SPDX-License-Identifier: GPL-3.0-or-later
// y = W x for weights kept in their quantized blocks, several activation vectors (lanes or prompt tokens) at once.
//
// One kernel serves decoding and prompts, and each output element is summed in one order whatever the number
// of vectors: the same bits for 1 or 8 lanes, any prefill chunk and any thread count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace kvasir::kernels {

enum class WeightType { f32, f16, bf16, q8_0, q4_0, q4_1 };

/// Bytes of one row of `cols` weights in the file (cols a multiple of 32 for the block types).
size_t row_bytes(WeightType type, int cols);

/// Dequantizes one row as stored in the file (row-major blocks) to fp32: out (cols).
void dequantize_row(WeightType type, const void* row, int cols, float* out);

/// A weight matrix (rows, cols) in layout R8: 8 rows interleaved per 32 columns (design in docs/decisions).
/// Rows and columns are padded to multiples of 32 with zeros.
class PackedMatrix {
 public:
    PackedMatrix() = default;

    /// rows_at(r) is the file's row r in storage order of the result: lets the caller permute rows. Block types have
    /// whole blocks of 32 columns, the others any number.
    /// PRECONDITION: every pointer is readable for row_bytes(type, cols).
    template <class RowAt>
    static PackedMatrix pack(WeightType type, int rows, int cols, RowAt&& row_at) {
        PackedMatrix m(type, rows, cols);
        for (int r = 0; r < rows; ++r)
            m.set_row(r, row_at(r));
        return m;
    }

    WeightType type() const { return type_; }
    int rows() const { return rows_; }
    int cols() const { return cols_; }
    size_t bytes() const { return bytes_; }
    const uint8_t* data() const { return data_.get(); }

 private:
    PackedMatrix(WeightType type, int rows, int cols);
    void set_row(int r, const void* file_row);

    struct Free {
        void operator()(uint8_t* p) const;
    };
    WeightType type_ = WeightType::f32;
    int rows_ = 0, cols_ = 0;
    size_t bytes_ = 0;
    std::unique_ptr<uint8_t[], Free> data_;
};

/// Floats that prepare_activation needs for n vectors of `cols`.
size_t activation_floats(int n, int cols);

/// Copies an activation vector in the forms the kernels want: plain, scaled by powers of two, sums of 32. Any thread
/// may prepare any vector: fills vector `index` of `prepared` only.
void prepare_activation(const float* x, int index, int cols, float* prepared);

/// y[i * y_stride + r] = sum_c W[r][c] * x_i[c] for i in [0, n) and row blocks [block_begin, block_end), a row block
/// being 8 rows. `prepared` was filled for the same n and cols. The sum runs over blocks of 32 columns, from
/// `sum_order` (not negative; modulo their number) upwards and round to the start: another order is another draw of the
/// rounding errors, which is how the noise floor is measured.
void matmul(const PackedMatrix& w, int block_begin, int block_end, const float* prepared, int n, float* y,
            size_t y_stride, int sum_order = 0);

}  // namespace kvasir::kernels
