// Runs the cases one after the other, so that the page stays responsive.
import { open } from './pkg/wgmax.js';
import { Verification } from './pkg/verify.js';

let verification;
let isStopped = false;

onmessage = async ({ data }) => {
    if (data.stop) {
        isStopped = true;
        return verification?.stop();
    }
    if (data.destroy) return device?.gpu.destroy();
    try {
        await run(data);
    } catch (error) {
        postMessage({ error: { code: error.code, message: error.message } });
    }
};

let device;

async function run({ seed, cases }) {
    device = await open('gpu', { verify: true });
    verification = new Verification(device, { seed });
    // The page may have asked for it while the device was opened.
    if (isStopped) verification.stop();
    const { operators, types } = verification;
    postMessage({ opened: { info: device.info, operators, types } });
    let outcome;
    while (verification.cases < cases && (outcome = await verification.next())) {
        const { error, ...known } = outcome;
        const finding = verification.findings.at(-1);
        postMessage({
            outcome: known,
            cases: verification.cases,
            seconds: verification.seconds,
            finding: finding?.case === outcome.index ? finding : undefined,
        });
        // Messages of the page are read between cases.
        await new Promise((done) => setTimeout(done));
    }
    const cutOff = verification.cases < cases && !verification.givenUp;
    postMessage({ done: verification.certificate({ cutOff }), givenUp: verification.givenUp });
    verification.free();
    verification = undefined;
    device.free();
}
