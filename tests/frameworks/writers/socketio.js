const port = +process.argv[process.argv.length - 1];
const { createServer } = require('http');
const { Server } = require('socket.io');
const { createAdapter } = require('@socket.io/redis-streams-adapter');
const { createClient } = require('redis');
(async () => {
  const client = createClient({ socket: { host: '127.0.0.1', port } });
  await client.connect();
  const io = new Server(createServer(), { adapter: createAdapter(client) });
  io.emit('news', { n: 1 }); io.to('room1').emit('news', { n: 2 });
  await new Promise(r => setTimeout(r, 1000));
  process.exit(0);
})().catch(e => { console.error(e); process.exit(1); });
