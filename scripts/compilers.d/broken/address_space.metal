// A function for workgroup memory is called for a buffer.
#include <metal_stdlib>
typedef uint Words[1];
uint first(threadgroup Words& words) {
    return words[0];
}
kernel void main_(device Words& words [[buffer(0)]]) {
    words[0] = first(words);
}
