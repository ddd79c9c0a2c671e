const port = +process.argv[process.argv.length - 1];
const { createClient } = require('redis');
const RedisStore = require('connect-redis').default;
(async () => {
  const client = createClient({ socket: { host: '127.0.0.1', port } });
  await client.connect();
  const store = new RedisStore({ client });
  for (let i = 1; i <= 5; i++) {
    await new Promise((ok, no) => store.set(`aB3-${i}xYz`, { cookie: { originalMaxAge: 86400000, expires: new Date(Date.now() + 86400000), httpOnly: true, path: '/' }, user: { id: i, name: `user ${i}` } }, e => e ? no(e) : ok()));
  }
  await client.quit();
})().catch(e => { console.error(e); process.exit(1); });
