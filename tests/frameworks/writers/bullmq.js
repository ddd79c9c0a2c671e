const port = +process.argv[2];
const { Queue, Worker, FlowProducer } = require('bullmq');
(async () => {
  const connection = { host: '127.0.0.1', port, maxRetriesPerRequest: null };
  for (const name of ['mail', 'report']) {
    const q = new Queue(name, { connection });
    for (let i = 1; i <= 6; i++) await q.add(i % 2 ? 'welcome' : 'reminder', { to: `user${i}@example.com`, n: i }, { attempts: i === 2 ? 2 : 1, backoff: 3600000 });
    const w = new Worker(name, async job => { if (job.data.n % 2 === 0) throw new Error(job.data.n === 4 ? 'mailbox full' : 'no route to host'); return { sent: job.data.n }; }, { connection });
    let seen = 0;
    await new Promise(r => { w.on('completed', () => { if (++seen === 6) r(); }); w.on('failed', () => { if (++seen === 6) r(); }); });
    await w.close();
    await q.add('later', { to: 'a@example.com' }, { delay: 86400000 });
    await q.add('urgent', { to: 'b@example.com' }, { priority: 3 });
    await q.add('next', { to: 'c@example.com' });
    await q.add('named', { to: 'd@example.com' }, { jobId: 'invoice-17' });
    await q.upsertJobScheduler('nightly', { pattern: '0 3 * * *' }, { name: 'cleanup', data: { days: 30 } });
    const w2 = new Worker(name, null, { connection, autorun: false });
    await w2.getNextJob('token-1');
    await w2.close();
    await q.close();
  }
  const flow = new FlowProducer({ connection });
  await flow.add({ name: 'parent', queueName: 'report', data: {}, children: [{ name: 'child', data: { a: 1 }, queueName: 'mail' }] });
  await flow.close();
  process.exit(0);
})().catch(e => { console.error(e); process.exit(1); });
