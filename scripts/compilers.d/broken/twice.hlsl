// One function twice, as naga 30 writes it for two types that are the same.
typedef uint ret_Constructarray2_uint_[2];
ret_Constructarray2_uint_ Constructarray2_uint_(uint a, uint b) {
    uint ret[2] = { a, b };
    return ret;
}
ret_Constructarray2_uint_ Constructarray2_uint_(uint a, uint b) {
    uint ret[2] = { a, b };
    return ret;
}
RWByteAddressBuffer result : register(u0);
[numthreads(64, 1, 1)]
void main(uint3 at : SV_DispatchThreadID) {
    uint values[2] = Constructarray2_uint_(at.x, 1u);
    result.Store(0, values[at.x % 2u]);
}
