// Code that the pages share.

export const $ = (id) => document.getElementById(id);

/** Shows the verdict: `good`, `bad` or `warn`, or of no kind. */
export function say(text, kind = '') {
    $('verdict').textContent = text;
    $('verdict').className = `verdict ${kind}`;
}

/** The message of a page that gets no GPU. */
export const withoutGpu = 'This browser gives pages no GPU, so there is none to verify. Recent versions of Chrome, Edge, Safari and Firefox have WebGPU; pages get it over https or from localhost.';

export function element(tag, properties = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
}
