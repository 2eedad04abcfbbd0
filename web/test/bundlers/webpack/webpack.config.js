export default { mode: 'production', entry: './main.js', output: { clean: true } };
