// A vector of four from three.
#include <metal_stdlib>
kernel void main_(device metal::uint4& words [[buffer(0)]]) {
    words = metal::uint4(1u, 2u, 3u);
}
