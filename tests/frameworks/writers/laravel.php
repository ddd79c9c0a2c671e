<?php
require '/usr/share/php/Illuminate/Queue/autoload.php';
require '/usr/share/php/Illuminate/Redis/autoload.php';
require '/usr/share/php/Illuminate/Cache/autoload.php';
require '/usr/share/php/Illuminate/Session/autoload.php';
require '/usr/share/php/Illuminate/Container/autoload.php';
$app = new Illuminate\Container\Container;
class_exists('Redis') or die("no phpredis\n");
$redis = new Illuminate\Redis\RedisManager($app, 'phpredis', ['options' => ['prefix' => 'shop_database_'], 'default' => ['host' => '127.0.0.1', 'port' => (int)$argv[1], 'database' => 0]]);
class SendMail { public $to; public $tries = 3; public $timeout = 60; function __construct($to) { $this->to = $to; } }
foreach (['default', 'mail'] as $name) {
  $q = new Illuminate\Queue\RedisQueue($redis, $name, 'default', 90, null);
  $q->setContainer($app); $q->setConnectionName('redis');
  for ($i = 0; $i < 5; $i++) $q->push(new SendMail("user$i@example.com"));
  $q->later(3600, new SendMail('late@example.com'));
  $q->push('App\\Jobs\\Raw@fire', ['n' => 1]);
  $q->pop();
  $job = $q->pop(); $job->release(600);
}
$store = new Illuminate\Cache\RedisStore($redis, 'shop_cache_', 'default');
$cache = new Illuminate\Cache\Repository($store);
$cache->put('user.1', ['name' => 'ann', 'age' => 30], 600);
$cache->put('user.2', ['name' => 'bob'], 600);
$cache->forever('rate', 12.5); $cache->put('hits', 5, 60); $cache->increment('hits');
$cache->put('city', 'Zürich', 60);
for ($i=0;$i<6;$i++) $cache->put("page:$i", "<p>$i</p>", 3600);
$store->lock('report', 600)->get();
for ($i=0;$i<3;$i++) {
$h = new Illuminate\Session\CacheBasedSessionHandler($cache, 120);
$s = new Illuminate\Session\Store('laravel_session', $h); $s->start(); $s->put('user_id', $i); $s->save();
}
