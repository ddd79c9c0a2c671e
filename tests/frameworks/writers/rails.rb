# What ActiveSupport's cache over Redis writes; an entry whose key ActionDispatch's session store over the cache makes.
require "active_support"
require "active_support/core_ext/numeric/time"
require "active_support/cache"
require "active_support/cache/redis_cache_store"

cache = ActiveSupport::Cache::RedisCacheStore.new(url: "redis://127.0.0.1:#{ARGV.last}/0", namespace: "shop")
(0..5).each { |n| cache.write("views/products/#{n}", "<p>#{n}</p>", expires_in: n.odd? ? 15.minutes : nil) }
cache.write("rates", { "eur" => 1.1, "list" => [1, 2] })
cache.fetch("computed") { 42 }
cache.write("_session_id:2::" + "ab12" * 16, { "user_id" => 7 }, expires_in: 1.hour)
cache.increment("hits")
