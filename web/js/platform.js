// Functions that differ between a page and Node. These are the page's; `node.js` sets Node's.

export const platform = {
    /** What a WebAssembly is made of: the URL of a file, or what the page gave, such as a response. */
    read: (from) => from,
    /** The `GPU` where there is no `navigator.gpu`. */
    gpu: async () => undefined,
};
