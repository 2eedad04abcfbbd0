// Parameters are written to.
#include <metal_stdlib>
struct Params {
    metal::uint4 all;
};
kernel void main_(constant Params& params [[buffer(0)]]) {
    params.all.x = 1u;
}
