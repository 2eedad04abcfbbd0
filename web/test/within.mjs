/** Fails what takes too long: a tab that hangs, and a promise that nothing settles, which would end Node in silence. */
export async function within(seconds, what, work) {
    let timer;
    const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error(`${what} took more than ${seconds} s`)), seconds * 1000)));
    return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
