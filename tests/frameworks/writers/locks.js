const port = +process.argv[process.argv.length - 1];
const Redis = require('ioredis');
const Redlock = require('redlock');
const { RateLimiterRedis } = require('rate-limiter-flexible');
(async () => {
  const client = new Redis(port, '127.0.0.1');
  const redlock = new Redlock([client]);
  await redlock.lock(['locks:report', 'locks:invoice'], 600000);
  const limiter = new RateLimiterRedis({ storeClient: client, points: 10, duration: 600, keyPrefix: 'rlflx' });
  for (let i = 0; i < 3; i++) await limiter.consume('10.0.0.1');
  await limiter.consume('user_7');
  process.exit(0);
})().catch(e => { console.error(e); process.exit(1); });
