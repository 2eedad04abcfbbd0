// Code that the pages share.

export const $ = (id) => document.getElementById(id);

/** Shows the verdict: `good`, `bad` or `warn`, or of no kind. */
export function say(text, kind = '') {
    $('verdict').textContent = text;
    $('verdict').className = `verdict ${kind}`;
}

export function element(tag, properties = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
}
