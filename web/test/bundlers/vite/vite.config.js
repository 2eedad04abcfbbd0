// The worker imports its WebAssembly when it needs it.
export default { worker: { format: 'es' } };
