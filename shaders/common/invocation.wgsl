// The number of an invocation in a dispatch. Grids have three dimensions because one may not allow
// enough workgroups; kernels number workgroups and invocations in one.
import generated::WORKGROUP;

struct Invocation {
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
}

fn group_number(at: Invocation) -> u32 {
    return at.group.x + at.grid.x * (at.group.y + at.grid.y * at.group.z);
}

fn invocation_number(at: Invocation) -> u32 {
    return group_number(at) * WORKGROUP + at.local;
}
