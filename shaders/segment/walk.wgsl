// An invocation for each run and each of its columns.
@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) id: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let group = id.x + grid.x * (id.y + grid.y * id.z);
    let number = group * WORKGROUP + local;
    let run = quotient(number, params.by_columns);
    if run < params.runs {
        walk(run, number - run * params.columns);
    }
}
