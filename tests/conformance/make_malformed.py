#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a tiny valid GGUF (base.gguf), a tiny valid safetensors file (base.safetensors) and malformed
variants of both, then checks them with a strict reference validator written from the format documents.
Usage: make_malformed.py OUTDIR   (standard library only; about 150 files, 9 MB; regenerate, do not commit the files)"""
import struct, sys, os, json
U8,I8,U16,I16,U32,I32,F32,BOOL,STR,ARR,U64,I64,F64=range(13)
FMT={U8:'B',I8:'b',U16:'H',I16:'h',U32:'I',I32:'i',F32:'f',BOOL:'B',U64:'Q',I64:'q',F64:'d'}
def s(b): b=b if isinstance(b,bytes) else b.encode(); return struct.pack('<Q',len(b))+b
def kv(k,t,v): return s(k)+struct.pack('<I',t)+val(t,v)
def val(t,v):
    if t==STR: return s(v)
    if t==ARR:
        et,items=v; return struct.pack('<IQ',et,len(items))+(b''.join(val(et,x) for x in items))
    return struct.pack('<'+FMT[t],v)
def ti(n,ne,ty,off,nd=None): return s(n)+struct.pack('<I',len(ne) if nd is None else nd)+b''.join(struct.pack('<Q',x&(2**64-1)) for x in ne)+struct.pack('<IQ',ty,off&(2**64-1))
BLK={0:(1,4),1:(1,2),2:(32,18),3:(32,20),6:(32,22),7:(32,24),8:(32,34),10:(256,84),11:(256,110),12:(256,144),13:(256,176),14:(256,210),15:(256,292),20:(32,18),30:(1,2)}
TOK=['<unk>','<s>','</s>']+['<0x%02X>'%i for i in range(256)]+['\u2581','h','e','l','o','he','ll','\u2581he','\u2581hello','hello']
TYP=[2,3,3]+[6]*256+[1]*10
SCO=[0.0]*259+[-float(i) for i in range(10)]
NE,NH,NK,HD,FF=64,2,1,32,96; V=len(TOK)
KV0=[('general.architecture',STR,'llama'),('general.alignment',U32,32),('llama.context_length',U32,128),('llama.embedding_length',U32,NE),('llama.block_count',U32,1),('llama.feed_forward_length',U32,FF),('llama.attention.head_count',U32,NH),('llama.attention.head_count_kv',U32,NK),('llama.attention.layer_norm_rms_epsilon',F32,1e-5),('llama.rope.dimension_count',U32,HD),('tokenizer.ggml.model',STR,'llama'),('tokenizer.ggml.tokens',ARR,(STR,TOK)),('tokenizer.ggml.scores',ARR,(F32,SCO)),('tokenizer.ggml.token_type',ARR,(I32,TYP)),('tokenizer.ggml.bos_token_id',U32,1),('tokenizer.ggml.eos_token_id',U32,2),('tokenizer.ggml.unknown_token_id',U32,0)]
T0=[('token_embd.weight',[NE,V],1),('output_norm.weight',[NE],0),('blk.0.attn_norm.weight',[NE],0),('blk.0.attn_q.weight',[NE,NH*HD],8),('blk.0.attn_k.weight',[NE,NK*HD],8),('blk.0.attn_v.weight',[NE,NK*HD],8),('blk.0.attn_output.weight',[NH*HD,NE],8),('blk.0.ffn_norm.weight',[NE],0),('blk.0.ffn_gate.weight',[NE,FF],8),('blk.0.ffn_up.weight',[NE,FF],8),('blk.0.ffn_down.weight',[FF,NE],8)]
def nbytes(ne,ty):
    b,z=BLK[ty]; n=1
    for x in ne: n*=x
    return n//b*z
def pad(n,a): return (n+a-1)//a*a
def gguf(kvs=None,ts=None,ver=3,magic=b'GGUF',nkv=None,nt=None,rawkv=b'',rawti=None,data=None,align=32,cut=None,tail=b'',patch=None):
    kvs=KV0 if kvs is None else kvs; ts=T0 if ts is None else ts
    b=magic+struct.pack('<I',ver)+struct.pack('<QQ',(len(ts) if nt is None else nt)&(2**64-1),(len(kvs)+(1 if rawkv else 0) if nkv is None else nkv)&(2**64-1))
    for k in kvs: b+=kv(*k)
    b+=rawkv
    off=0; blob=b''
    if rawti is None:
        for n,ne,ty in ts:
            b+=ti(n,ne,ty,off); z=nbytes(ne,ty); blob+=fill(z,ty); blob+=b'\0'*(pad(z,align)-z); off+=pad(z,align)
    else: b+=rawti
    b+=b'\0'*(pad(len(b),align)-len(b))
    b+=blob if data is None else data
    b+=tail
    if patch: b=patch(b)
    return b[:cut] if cut is not None else b
def fill(z,ty):
    if ty==0: return struct.pack('<f',1.0)*(z//4)
    if ty==1: return struct.pack('<e',0.01)*(z//2)
    blk,bs=BLK[ty]; o=bytearray((i*29+7)&255 for i in range(z))
    for p in range(0,z,bs): o[p:p+2]=struct.pack('<e',0.002)
    return bytes(o)
def rep(name,**c):
    o=[]
    for k in KV0: o.append((k[0],c.get('t',k[1]),c['v']) if k[0]==name else k)
    return o
def drop(name): return [k for k in KV0 if k[0]!=name]
def tens(i,ne=None,ty=None,name=None,off=None,nd=None):
    r=b'';o=0
    for j,(n,e,t) in enumerate(T0):
        if j==i: r+=ti(n if name is None else name,e if ne is None else ne,t if ty is None else ty,o if off is None else off,nd)
        else: r+=ti(n,e,t,o)
        o+=pad(nbytes(e,t),32)
    return r
DATA=None
def alldata():
    o=b''
    for n,e,t in T0: z=nbytes(e,t); o+=fill(z,t)+b'\0'*(pad(z,32)-z)
    return o
D=alldata(); base=gguf()
hdr=len(base)-len(D)
def setscale(v):
    z=bytearray(D); off=pad(nbytes(*T0[0][1:]),32)+2*pad(NE*4,32); z[off:off+2]=struct.pack('<H',v); return bytes(z)
G={
'G01_empty':b'', 'G02_one_byte':b'G','G03_magic_only':b'GGUF','G04_header_cut_at_20':base[:20],
'G05_magic_GGML':gguf(magic=b'GGML'),'G06_magic_byteswapped':gguf(magic=b'FUGG'),'G07_lfs_pointer':b'version https://git-lfs.github.com/spec/v1\noid sha256:'+b'0'*64+b'\nsize 123\n','G08_html':b'<!DOCTYPE html><html><body>404</body></html>','G09_zip':b'PK\x03\x04'+b'\0'*60,
'G10_version0':gguf(ver=0),'G11_version1':gguf(ver=1),'G12_version4':gguf(ver=4),'G13_version_bigendian3':gguf(ver=0x03000000),
'G14_ntensors_minus1':gguf(nt=-1),'G15_nkv_minus1':gguf(nkv=-1),'G16_nkv_2e40':gguf(nkv=2**40),'G17_nkv_one_too_many':gguf(nkv=len(KV0)+1),
'G18_keylen_2e48m1_32B':b'GGUF'+struct.pack('<IQQQ',3,0,1,0xFFFFFFFFFFFF),'G19_keylen_u64max':b'GGUF'+struct.pack('<IQQQ',3,0,1,2**64-1)+b'x'*8,'G20_empty_key':gguf(rawkv=kv('',U32,1)),'G21_key_65536':gguf(rawkv=kv('a'*65536,U32,1)),'G22_key_bad_utf8':gguf(rawkv=kv(b'ab\xff.c',U32,1)),'G23_duplicate_key':gguf(rawkv=kv('llama.block_count',U32,2)),
'G24_kv_type13':gguf(rawkv=s('x.y')+struct.pack('<I',13)+b'\0'*8),'G25_kv_type_u32max':gguf(rawkv=s('x.y')+struct.pack('<I',2**32-1)+b'\0'*8),'G26_bool_2':gguf(rawkv=s('x.b')+struct.pack('<I',BOOL)+b'\2'),
'G27_strval_len_2e63':gguf(rawkv=s('x.s')+struct.pack('<IQ',STR,2**63)),'G28_strval_len_past_eof':gguf(rawkv=s('x.s')+struct.pack('<IQ',STR,2**30)),'G29_arr_u64_count_2e61':gguf(rawkv=s('x.a')+struct.pack('<IIQ',ARR,U64,2**61)),'G30_arr_str_count_2e40':gguf(rawkv=s('x.a')+struct.pack('<IIQ',ARR,STR,2**40)),'G31_arr_elemtype_13':gguf(rawkv=s('x.a')+struct.pack('<IIQ',ARR,13,1)+b'\0'*8),'G32_arr_nested_depth_64':gguf(rawkv=s('x.a')+struct.pack('<I',ARR)+b''.join(struct.pack('<IQ',ARR,1) for _ in range(64))+struct.pack('<IQ',U8,0)),
'G33_align_0':gguf(rep('general.alignment',v=0)),'G34_align_13':gguf(rep('general.alignment',v=13)),'G35_align_2e31':gguf(rep('general.alignment',v=2**31)),'G36_align_wrong_type_i32':gguf(rep('general.alignment',t=I32,v=32)),'G37_align_as_string':gguf(rep('general.alignment',t=STR,v='32')),
'G38_tensor_name_64':gguf(rawti=tens(1,name='n'*64),data=D),'G39_tensor_name_empty':gguf(rawti=tens(1,name=''),data=D),'G40_tensor_name_dup':gguf(rawti=tens(2,name='output_norm.weight'),data=D),'G41_ndims_5':gguf(rawti=tens(1,ne=[64,1,1,1,1]),data=D),'G42_ndims_u32max':gguf(rawti=tens(1,ne=[64],nd=2**32-1),data=D),'G43_ndims_0':gguf(rawti=tens(1,ne=[]),data=D),'G44_dim_zero':gguf(rawti=tens(1,ne=[64,0]),data=D),'G45_dim_minus1':gguf(rawti=tens(1,ne=[-1]),data=D),
'G46_ne_wrap_to_negative_i8':gguf(rawti=tens(1,ne=[2**63-1,2],ty=24),data=D),'G47_ne_wrap_to_zero':gguf(rawti=tens(1,ne=[2**32,2**32]),data=D),'G48_nbytes_wrap_q4_0':gguf(rawti=tens(1,ne=[5124095576030431008],ty=2),data=D),'G49_dim_2e42p1':gguf(rawti=tens(0,ne=[64,2**42+1]),data=D),'G50_two_tensors_size_sum_wrap':gguf(ts=[],nt=2,rawti=ti('a',[0x3FFFFFFFFFFFFFE0],1,0)+ti('b',[0x3FFFFFFFFFFFFFE0],1,0x7FFFFFFFFFFFFFC0),data=b'\0'*32),
'G51_row_not_multiple_of_block':gguf(rawti=tens(3,ne=[63,64]),data=D),'G52_type_43_unknown':gguf(rawti=tens(1,ty=43),data=D),'G53_type_4_removed':gguf(rawti=tens(1,ty=4),data=D),'G54_type_36_removed':gguf(rawti=tens(1,ty=36),data=D),'G55_type_minus1':gguf(rawti=tens(1,ty=2**32-1),data=D),'G56_type_39_valid_but_unsupported':gguf(rawti=tens(3,ty=39),data=D),
'G57_offset_unaligned':gguf(rawti=tens(1,off=pad(nbytes(*T0[0][1:]),32)+1),data=D),'G58_offset_past_eof':gguf(rawti=tens(10,off=2**40),data=D),'G59_offset_u64max':gguf(rawti=tens(10,off=-1),data=D),'G60_offsets_overlap':gguf(rawti=tens(1,off=0),data=D),
'G61_data_cut_1_byte':base[:-1],'G62_data_cut_half':base[:hdr+len(D)//2],'G63_no_data_section':base[:hdr],'G64_cut_inside_tensor_info':base[:hdr-200],
'G65_trailing_garbage':base+b'extra bytes after the last tensor',
'G66_no_architecture':gguf(drop('general.architecture')),'G67_architecture_unknown':gguf(rep('general.architecture',v='llamaX')),'G68_architecture_is_u32':gguf(rep('general.architecture',t=U32,v=7)),'G69_block_count_0':gguf(rep('llama.block_count',v=0)),'G70_block_count_513':gguf(rep('llama.block_count',v=513)),'G71_block_count_u32max':gguf(rep('llama.block_count',v=2**32-1)),'G72_block_count_f32':gguf(rep('llama.block_count',t=F32,v=1.0)),'G73_head_count_0':gguf(rep('llama.attention.head_count',v=0)),'G74_head_count_kv_3_of_2':gguf(rep('llama.attention.head_count_kv',v=3)),'G75_head_count_kv_0':gguf(rep('llama.attention.head_count_kv',v=0)),'G76_embd_not_divisible':gguf(rep('llama.embedding_length',v=65)),'G77_rope_dim_odd':gguf(rep('llama.rope.dimension_count',v=31)),'G78_rope_dim_gt_head':gguf(rep('llama.rope.dimension_count',v=64)),'G79_rms_eps_nan':gguf(rep('llama.attention.layer_norm_rms_epsilon',v=float('nan'))),'G80_context_u32max':gguf(rep('llama.context_length',v=2**32-1)),'G81_missing_embedding_length':gguf(drop('llama.embedding_length')),
'G82_tensor_missing_ffn_down':gguf(ts=T0[:-1]),'G83_embd_shape_vs_vocab':gguf([k for k in rep('tokenizer.ggml.tokens',v=(STR,TOK+['x'])) if k[0] not in('tokenizer.ggml.scores','tokenizer.ggml.token_type')]),'G84_q_shape_wrong':gguf(ts=[t if t[0]!='blk.0.attn_q.weight' else (t[0],[NE,32],8) for t in T0]),
'G85_scale_nan_q8_0':gguf(data=setscale(0x7E00)),'G86_scale_inf_q8_0':gguf(data=setscale(0x7C00)),'G87_f16_embd_inf':gguf(data=struct.pack('<H',0x7C00)+D[2:]),
'G88_tokens_missing':gguf(drop('tokenizer.ggml.tokens')),'G89_tokens_is_i32_array':gguf(rep('tokenizer.ggml.tokens',v=(I32,[1]*V))),'G90_scores_short':gguf(rep('tokenizer.ggml.scores',v=(F32,SCO[:-1]))),'G91_scores_u8':gguf(rep('tokenizer.ggml.scores',v=(U8,[0]*V))),'G92_token_type_u8':gguf(rep('tokenizer.ggml.token_type',v=(U8,[1]*V))),'G93_token_type_short':gguf(rep('tokenizer.ggml.token_type',v=(I32,TYP[:-5]))),'G94_bos_out_of_range':gguf(rep('tokenizer.ggml.bos_token_id',v=V)),'G95_eos_u32max':gguf(rep('tokenizer.ggml.eos_token_id',v=2**32-1)),'G96_tiny_vocab_default_ids':gguf([k for k in rep('tokenizer.ggml.tokens',v=(STR,['a'])) if 'token_id' not in k[0] and 'scores' not in k[0] and 'token_type' not in k[0]],ts=[('token_embd.weight',[NE,1],1)]+T0[1:]),'G97_byte_token_0x-1':gguf(rep('tokenizer.ggml.tokens',v=(STR,[t if t!='<0x00>' else '<0x-1>' for t in TOK]))),'G98_byte_token_0xZZ':gguf(rep('tokenizer.ggml.tokens',v=(STR,[t if t!='<0x00>' else '<0xZZ>' for t in TOK]))),'G99_tokenizer_model_unknown':gguf(rep('tokenizer.ggml.model',v='wordsmith')),
}
WARN={'W01_duplicate_token':gguf(rep('tokenizer.ggml.tokens',v=(STR,TOK[:-1]+['hello' if False else 'he']))),'W02_empty_token':gguf(rep('tokenizer.ggml.tokens',v=(STR,TOK[:-1]+['']))),'W03_token_not_utf8':gguf(rep('tokenizer.ggml.tokens',v=(STR,[x.encode() for x in TOK[:-1]]+[b'\xf0\x9f']))),'W04_token_with_NUL':gguf(rep('tokenizer.ggml.tokens',v=(STR,TOK[:-1]+['a\0b']))),'W05_version2':gguf(ver=2),'W06_no_alignment_key':gguf(drop('general.alignment')),'W07_u64_hparams':gguf(rep('llama.block_count',t=U64,v=1)),'W08_alignment_64':None,'W09_unknown_extra_kv':gguf(rawkv=kv('vendor.custom',ARR,(F64,[1.0,2.0]))),'W10_unknown_extra_tensor':gguf(ts=T0+[('extra.thing',[8],0)])}
def al64():
    k=rep('general.alignment',v=64); return gguf(k,align=64)
WARN['W08_alignment_64']=al64()
# ---------------- safetensors
def st(h,body,n=None):
    j=h if isinstance(h,bytes) else json.dumps(h).encode(); return struct.pack('<Q',len(j) if n is None else n)+j+body
X={"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}
Sbase=st({"a":X},b'\0'*16)
S={'S01_empty':b'','S02_seven_bytes':b'\x10\0\0\0\0\0\0','S03_len_only':struct.pack('<Q',60),'S04_len_u64max':st({"a":X},b'\0'*16,2**64-1),'S05_len_2e63':st({"a":X},b'\0'*16,2**63),'S06_len_100MB_plus1':st({"a":X},b'\0'*16,100_000_001),'S07_len_past_eof':st({"a":X},b'\0'*16,1000),'S08_header_zero':st(b'',b'',0),
'S09_not_utf8':struct.pack('<Q',1)+b'\xff','S10_not_json':struct.pack('<Q',1)+b'{','S11_array_top':st(b'[1,2]',b''),'S12_dup_tensor':st(b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}',b'\0'*8),'S13_depth_20000':st(b'['*20000+b']'*20000,b''),
'S14_trailing_bytes':Sbase+b'extra_bogus_data_for_polyglot_file','S15_missing_2_bytes':Sbase[:-2],'S16_hole':st({"a":{**X},"b":{**X,"data_offsets":[20,36]}},b'\0'*36),'S17_overlap':st({"a":X,"b":X},b'\0'*16),'S18_reversed':st({"a":{**X,"data_offsets":[16,0]}},b'\0'*16),'S19_negative':st({"a":{**X,"data_offsets":[-16,0]}},b'\0'*16),'S20_one_offset':st({"a":{**X,"data_offsets":[16]}},b'\0'*16),'S21_three_offsets':st({"a":{**X,"data_offsets":[0,16,32]}},b'\0'*16),'S22_float_offset':st({"a":{**X,"data_offsets":[0,16.0]}},b'\0'*16),'S23_u64max_offset':st({"a":{**X,"data_offsets":[0,2**64-1]}},b'\0'*16),
'S24_shape_mismatch':st({"a":{**X,"shape":[1000,1000]}},b'\0'*16),'S25_shape_mul_wrap':st({"a":{**X,"shape":[2,2**64-2]}},b'\0'*16),'S26_shape_bytes_wrap':st({"a":{**X,"shape":[2,2**63-1]}},b'\0'*16),'S27_shape_negative':st({"a":{**X,"shape":[-2,-2]}},b'\0'*16),'S28_dtype_unknown':st({"a":{**X,"dtype":"F33"}},b'\0'*16),'S29_dtype_int':st({"a":{**X,"dtype":3}},b'\0'*16),'S30_missing_dtype':st({"a":{"shape":[2,2],"data_offsets":[0,16]}},b'\0'*16),'S31_metadata_not_strings':st({"__metadata__":{"x":1},"a":X},b'\0'*16),'S32_f4_odd_bits':st({"a":{"dtype":"F4","shape":[3],"data_offsets":[0,2]}},b'\0'*2)}
SOK={'SOK1_base':Sbase,'SOK2_leading_ws':st(b' \t'+json.dumps({"a":X}).encode(),b'\0'*16),'SOK3_trailing_spaces':st(json.dumps({"a":X}).encode()+b' '*32,b'\0'*16),'SOK4_scalar':st({"a":{"dtype":"I32","shape":[],"data_offsets":[0,4]}},b'\0'*4),'SOK5_zero_dim':st({"a":{"dtype":"I32","shape":[2,0],"data_offsets":[0,0]}},b''),'SOK6_empty_object':st(b'{}',b''),'SOK7_metadata':st({"__metadata__":{"format":"pt"},"a":X},b'\0'*16),'SOK8_unsorted_keys':st({"b":{**X,"data_offsets":[16,32]},"a":X},b'\0'*32)}
# ---------------- strict validator
class Bad(Exception): pass
def check(b):
    p=0; warn=[]
    def need(n,w):
        if n>len(b)-p: raise Bad('truncated: %s needs %d bytes at offset %d, %d left'%(w,n,p,len(b)-p))
    def take(n,w):
        nonlocal p
        need(n,w); r=b[p:p+n]; p+=n; return r
    def u32(w): return struct.unpack('<I',take(4,w))[0]
    def u64(w): return struct.unpack('<Q',take(8,w))[0]
    def string(w,mx=2**30):
        n=u64(w+' length')
        if n>mx or n>len(b)-p: raise Bad('%s: length %d exceeds what is left of the file (%d)'%(w,n,len(b)-p))
        return take(n,w)
    def value(t,w,depth=0):
        if t==STR: return string(w)
        if t==ARR:
            if depth: raise Bad('%s: nested arrays are not supported'%w)
            et=u32(w); n=u64(w)
            if et>12: raise Bad('%s: unknown array element type %d'%(w,et))
            if et==ARR: raise Bad('%s: nested arrays are not supported'%w)
            mn=8 if et==STR else struct.calcsize(FMT[et])
            if n>(len(b)-p)//mn: raise Bad('%s: array of %d elements cannot fit in the rest of the file'%(w,n))
            return (et,[value(et,w,1) for _ in range(n)])
        if t not in FMT: raise Bad('%s: unknown value type %d'%(w,t))
        r=struct.unpack('<'+FMT[t],take(struct.calcsize(FMT[t]),w))[0]
        if t==BOOL and r>1: raise Bad('%s: boolean is %d, not 0 or 1'%(w,r))
        return r
    if len(b)<4 or b[:4]!=b'GGUF': raise Bad('not a GGUF file (first bytes %s)'%b[:4].hex(' '))
    p=4; v=u32('version')
    if v not in(2,3): raise Bad('GGUF version %d'%v+(' (byte order of another machine?)' if v&0xffff==0 and v else '')+' is not supported')
    nt,nk=u64('tensor count'),u64('key count')
    if nk>(len(b)-p)//13: raise Bad('key count %d cannot fit in the file'%nk)
    if nt>(len(b)-p)//32 : raise Bad('tensor count %d cannot fit in the file'%nt)
    K={}
    for i in range(nk):
        k=string('key %d'%i,65535)
        if not k: raise Bad('key %d is empty'%i)
        try: k=k.decode('ascii')
        except UnicodeDecodeError: raise Bad('key %d is not ASCII'%i)
        if k in K: raise Bad('duplicate key '+k)
        t=u32(k); K[k]=(t,value(t,k))
    def geti(k,req=True,lo=0,hi=2**31-1):
        if k not in K:
            if req: raise Bad('required key %s is missing'%k)
            return None
        t,x=K[k]
        if t not in(U8,I8,U16,I16,U32,I32,U64,I64): raise Bad('%s has type %d, an integer was expected'%(k,t))
        if not lo<=x<=hi: raise Bad('%s = %d is outside %d..%d'%(k,x,lo,hi))
        return x
    a=32
    if 'general.alignment' in K:
        t,a=K['general.alignment']
        if t!=U32: raise Bad('general.alignment has the wrong type')
        if a<1 or a&(a-1) or a>65536: raise Bad('general.alignment = %d is not a power of two up to 65536'%a)
    names={}; info=[]
    for i in range(nt):
        n=string('tensor name %d'%i,63)
        if not n: raise Bad('tensor %d has no name'%i)
        n=n.decode('utf-8','replace')
        if n in names: raise Bad('duplicate tensor '+n)
        nd=u32(n)
        if not 1<=nd<=4: raise Bad('%s: %d dimensions, 1..4 expected'%(n,nd))
        ne=[u64(n) for _ in range(nd)]; ty=u32(n); off=u64(n)
        if any(x==0 or x>2**63-1 for x in ne): raise Bad('%s: dimension %s is invalid'%(n,ne))
        cnt=1
        for x in ne:
            cnt*=x
            if cnt>2**63-1: raise Bad('%s: element count overflows'%n)
        if ty not in BLK:
            raise Bad('%s: tensor type %d is %s'%(n,ty,'known but not supported here' if ty in(9,16,17,18,19,21,22,23,24,25,26,27,28,29,34,35,39,40,41,42) else 'not a known type'))
        bl,bs=BLK[ty]
        if ne[0]%bl: raise Bad('%s: row of %d is not a multiple of block %d'%(n,ne[0],bl))
        z=cnt//bl*bs
        if z>2**63-1: raise Bad('%s: byte size overflows'%n)
        names[n]=(ne,ty,off,z); info.append((off,z,n))
    ds=pad(p,a) if nt else p
    if ds>len(b) and nt: raise Bad('truncated: tensor data should start at %d, file has %d bytes'%(ds,len(b)))
    end=0
    for off,z,n in sorted(info):
        if off%a: raise Bad('%s: offset %d is not a multiple of %d'%(n,off,a))
        if off>len(b)-ds or z>len(b)-ds-off: raise Bad('%s: data [%d,+%d) is past the end of the file; the file is incomplete or damaged'%(n,off,z))
        if off<end: raise Bad('%s: data overlaps another tensor'%n)
        end=off+z
    if len(b)-ds>pad(end,a): raise Bad('%d unexpected bytes after the last tensor'%(len(b)-ds-end)) if nt else None
    if 'general.architecture' not in K or K['general.architecture'][0]!=STR: raise Bad('general.architecture is missing or not a string')
    ar=K['general.architecture'][1].decode('utf-8','replace')
    if ar!='llama': raise Bad('architecture "%s" is not supported'%ar)
    nl=geti('llama.block_count',lo=1,hi=512); e=geti('llama.embedding_length',lo=1,hi=2**20); ff=geti('llama.feed_forward_length',lo=1,hi=2**22); h=geti('llama.attention.head_count',lo=1,hi=4096); hk=geti('llama.attention.head_count_kv',False,1,4096) or h; geti('llama.context_length',lo=1,hi=2**24)
    if h%hk: raise Bad('head_count %d is not a multiple of head_count_kv %d'%(h,hk))
    if 'llama.attention.key_length' not in K and e%h: raise Bad('embedding_length %d is not a multiple of head_count %d'%(e,h))
    hd=geti('llama.attention.key_length',False,1,4096) or e//h
    rd=geti('llama.rope.dimension_count',False,2,4096) or hd
    if rd%2 or rd!=hd: raise Bad('rope.dimension_count %d does not fit head size %d'%(rd,hd))
    t,x=K.get('llama.attention.layer_norm_rms_epsilon',(None,None))
    if t!=F32 or not 0<x<1: raise Bad('layer_norm_rms_epsilon is missing or not in (0,1)')
    tm=K.get('tokenizer.ggml.model',(None,b''))[1]
    if tm not in(b'llama',b'gpt2'): raise Bad('tokenizer model %r is not supported'%tm)
    t=K.get('tokenizer.ggml.tokens')
    if not t or t[0]!=ARR or t[1][0]!=STR or not t[1][1]: raise Bad('tokenizer.ggml.tokens is missing or not a list of strings')
    tk=t[1][1]; nv=len(tk)
    if len(set(tk))!=nv: warn.append('duplicate token text')
    if b'' in tk: warn.append('empty token text')
    for x in tk:
        try: x.decode()
        except UnicodeDecodeError: warn.append('token text is not UTF-8'); break
    for k,et in(('scores',F32),('token_type',I32)):
        q=K.get('tokenizer.ggml.'+k)
        if q:
            if q[0]!=ARR or q[1][0]!=et: raise Bad('tokenizer.ggml.%s has the wrong element type'%k)
            if len(q[1][1])!=nv: raise Bad('tokenizer.ggml.%s has %d entries for %d tokens'%(k,len(q[1][1]),nv))
    ty=K['tokenizer.ggml.token_type'][1][1] if 'tokenizer.ggml.token_type' in K else [1]*nv
    import re
    for i,x in enumerate(tk):
        if ty[i]==6 and not re.fullmatch(rb'<0x[0-9A-Fa-f]{2}>',x): raise Bad('token %d is a byte token but its text is %r'%(i,x))
    for k,dflt in(('bos',1),('eos',2),('unknown',0)):
        q=geti('tokenizer.ggml.%s_token_id'%k,False,0,2**32-1); q=dflt if q is None else q
        if q>=nv: raise Bad('%s token id %d is outside the vocabulary of %d'%(k,q,nv))
    def want(n,ne):
        if n not in names: raise Bad('tensor %s is missing'%n)
        if names[n][0]!=ne: raise Bad('tensor %s has shape %s, expected %s'%(n,names[n][0],ne))
    want('token_embd.weight',[e,nv]); want('output_norm.weight',[e])
    for l in range(nl):
        q='blk.%d.'%l
        for n,ne in(('attn_norm',[e]),('attn_q',[e,h*hd]),('attn_k',[e,hk*hd]),('attn_v',[e,hk*hd]),('attn_output',[h*hd,e]),('ffn_norm',[e]),('ffn_gate',[e,ff]),('ffn_up',[e,ff]),('ffn_down',[ff,e])): want(q+n+'.weight',ne)
    for n,(ne,ty_,off,z) in names.items():
        d=b[ds+off:ds+off+z]
        st_={0:(4,0),1:(2,0),8:(34,0)}.get(ty_)
        if ty_==0: ok=all((x>>23&255)!=255 for (x,) in struct.iter_unpack('<I',d))
        elif ty_==1: ok=all((x>>10&31)!=31 for (x,) in struct.iter_unpack('<H',d))
        else: ok=all((struct.unpack_from('<H',d,q)[0]>>10&31)!=31 for q in range(0,z,BLK[ty_][1]))
        if not ok: raise Bad('tensor %s contains NaN or infinity'%n)
    return warn
SD={'BOOL':8,'U8':8,'I8':8,'F8_E4M3':8,'F8_E5M2':8,'U16':16,'I16':16,'F16':16,'BF16':16,'U32':32,'I32':32,'F32':32,'U64':64,'I64':64,'F64':64,'F4':4}
def scheck(b):
    if len(b)<8: raise Bad('shorter than the 8-byte length')
    n=struct.unpack('<Q',b[:8])[0]
    if n>100_000_000: raise Bad('header of %d bytes is too large'%n)
    if n>len(b)-8: raise Bad('header of %d bytes runs past the end of the file'%n)
    if n<2: pass
    try: t=b[8:8+n].decode()
    except UnicodeDecodeError: raise Bad('header is not UTF-8')
    def pairs(l):
        d={}
        for k,v in l:
            if k in d: raise Bad('duplicate name '+k)
            d[k]=v
        return d
    dep=mx=0
    for c in t:
        dep+=(c in '[{')-(c in ']}'); mx=max(mx,dep)
    if mx>16: raise Bad('header is nested too deeply')
    try: h=json.loads(t,object_pairs_hook=pairs)
    except ValueError as e: raise Bad('header is not JSON')
    if not isinstance(h,dict): raise Bad('header is not a JSON object')
    L=[]
    for k,v in h.items():
        if k=='__metadata__':
            if not isinstance(v,dict) or any(not isinstance(x,str) for x in v.values()): raise Bad('__metadata__ must map strings to strings')
            continue
        if not isinstance(v,dict) or not {'dtype','shape','data_offsets'}<=set(v): raise Bad(k+': incomplete entry')
        dt,sh,of=v['dtype'],v['shape'],v['data_offsets']
        if not isinstance(dt,str) or dt not in SD: raise Bad('%s: unknown dtype %r'%(k,dt))
        ints=lambda q: isinstance(q,list) and all(type(x) is int and 0<=x<2**48 for x in q)
        if not ints(sh): raise Bad(k+': bad shape')
        if not ints(of) or len(of)!=2 or of[1]<of[0]: raise Bad(k+': bad data_offsets')
        c=SD[dt]
        for x in sh: c*=x
        if c%8 or c//8!=of[1]-of[0]: raise Bad('%s: shape and dtype need %s bits, data_offsets give %d bytes'%(k,c,of[1]-of[0]))
        L.append((of[0],of[1],k))
    pos=0
    for a,e,k in sorted(L):
        if a!=pos: raise Bad('%s: gap or overlap at %d'%(k,pos))
        pos=e
    if pos!=len(b)-8-n: raise Bad('data section has %d bytes, header describes %d'%(len(b)-8-n,pos))
if __name__=='__main__':
    out=sys.argv[1]; os.makedirs(out,exist_ok=True); bad=0; W=lambda n,b: open(os.path.join(out,n),'wb').write(b)
    W('base.gguf',base); W('base.safetensors',Sbase)
    assert check(base)==[] , 'base must be valid'
    for n,b in G.items():
        W(n+'.gguf',b)
        try: check(b); print('NOT REJECTED',n); bad+=1
        except Bad as e: print('%-36s %6d B  %s'%(n,len(b),e))
    for n,b in WARN.items():
        W(n+'.gguf',b)
        try: print('%-36s %6d B  accepted, warnings %s'%(n,len(b),check(b)))
        except Bad as e: print('WRONGLY REJECTED',n,e); bad+=1
    for n,b in S.items():
        W(n+'.safetensors',b)
        try: scheck(b); print('NOT REJECTED',n); bad+=1
        except Bad as e: print('%-36s %6d B  %s'%(n,len(b),e))
    for n,b in SOK.items():
        W(n+'.safetensors',b)
        try: scheck(b)
        except Bad as e: print('WRONGLY REJECTED',n,e); bad+=1
    print(len(G),'malformed GGUF,',len(WARN),'unusual-but-valid GGUF,',len(S),'malformed safetensors,',len(SOK),'valid safetensors; problems:',bad)
