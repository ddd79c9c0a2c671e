const port = +process.argv[2];
const Queue = require('bull');
(async () => {
  for (const name of ['video', 'audio']) {
    const q = new Queue(name, { redis: { host: '127.0.0.1', port } });
    for (let i = 1; i <= 6; i++) await q.add({ file: `f${i}.mp4`, n: i }, { attempts: i === 2 ? 2 : 1, backoff: 3600000 });
    let seen = 0;
    const done = new Promise(r => { q.on('completed', () => { if (++seen === 6) r(); }); q.on('failed', () => { if (++seen === 6) r(); }); });
    q.process(async job => { if (job.data.n % 2 === 0) throw new Error(job.data.n === 4 ? 'bad codec' : 'disk full'); return { ok: job.data.n }; });
    await done;
    await q.pause(true, true);
    await q.add({ file: 'later' }, { delay: 86400000 });
    const p = new Queue(name, { redis: { host: '127.0.0.1', port } });
    await q.resume();
    await new Promise(r => setTimeout(r, 50));
    await q.close();
    await p.add('named', { file: 'next' });
    await p.add('named', { file: 'next' }, { jobId: 'custom-9' });
    await p.add({ file: 'cron' }, { repeat: { cron: '0 3 * * *' } });
    await p.getNextJob().catch(() => 0);
    await p.close();
  }
  process.exit(0);
})().catch(e => { console.error(e); process.exit(1); });
