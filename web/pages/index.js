import { $, element, say, withoutGpu } from './page.js';

const SECONDS = 5;

$('start').onclick = () => {
    if (!navigator.gpu) return say(withoutGpu, 'warn');
    $('start').disabled = true;
    say('Opening the GPU …');
    const worker = new Worker('verify-worker.js', { type: 'module' });
    let [wrong, shown] = [0, 0];
    const end = (text, kind) => {
        worker.terminate();
        say(text, kind);
        $('start').disabled = false;
    };
    worker.onerror = (event) => end(`The worker failed: ${event.message ?? 'it did not load'}`, 'bad');
    worker.onmessage = ({ data }) => {
        if (data.error) return end(data.error.code === 'NoAdapter' ? withoutGpu : data.error.message, data.error.code === 'NoAdapter' ? 'warn' : 'bad');
        if (data.outcome) {
            wrong += data.outcome.verdict !== 'same';
            // No more often than a screen reader can read it.
            if (data.seconds - shown >= 1) {
                shown = data.seconds;
                say(`${data.cases} random cases: ${wrong ? `${wrong} wrong` : 'all equal'} …`, wrong ? 'bad' : '');
            }
            if (data.seconds >= SECONDS) worker.postMessage({ stop: true });
        }
        if (data.done) {
            const { cases, devices } = data.done;
            const lost = data.givenUp?.code === 'DeviceLost';
            end(lost ? 'The browser lost the GPU.' : `${cases} random cases on ${devices[0].name}: ${wrong ? `${wrong} are wrong.` : 'all equal to the CPU, bit for bit.'}`, wrong || lost ? 'bad' : 'good');
            $('verdict').append(' ', element('a', { href: 'verify.html', textContent: 'Verify more' }));
        }
    };
    worker.postMessage({ seed: 1 + Math.floor(Math.random() * 1e6), cases: 1e6 });
};
