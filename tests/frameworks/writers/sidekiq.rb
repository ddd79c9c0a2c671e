require 'sidekiq'; require 'sidekiq/api'
Sidekiq.configure_client { |c| c.redis = { url: "redis://127.0.0.1:#{ARGV[0]}" } }
class Mailer; include Sidekiq::Worker; sidekiq_options queue: 'mail', retry: 3; end
class Report; include Sidekiq::Worker; end
5.times { |i| Mailer.perform_async("user#{i}@example.com", i) }
3.times { |i| Report.perform_async(i) }
2.times { |i| Mailer.perform_in(3600 * (i + 1), "late#{i}@example.com", i) }
require 'sidekiq/processor'; require 'sidekiq/job_retry'
# the real retry code writes the sets retry and dead
retrier = Sidekiq::JobRetry.new
[['mailbox full', 3], ['no route to host', 3], ['fatal', 0]].each_with_index do |(text, tries), i|
  msg = { 'class' => 'Mailer', 'args' => ["x#{i}@example.com"], 'retry' => tries, 'queue' => 'mail', 'jid' => SecureRandom.hex(12), 'created_at' => Time.now.to_f, 'enqueued_at' => Time.now.to_f }
  begin
    retrier.local(Mailer.new, Sidekiq.dump_json(msg), 'mail') { raise ArgumentError, text }
  rescue Sidekiq::JobRetry::Handled, Sidekiq::JobRetry::Skip
  end
end
require 'sidekiq/launcher'
launcher = Sidekiq::Launcher.new({queues: ['mail','default'], concurrency: 2, tag: 'app', labels: [], timeout: 1, poll_interval_average: 5, average_scheduled_poll_interval: 5})
Sidekiq::Processor::PROCESSED.incr(4); Sidekiq::Processor::FAILURE.incr(1)
Sidekiq::Processor::WORKER_STATE.set('abc1', {queue: 'queue:mail', payload: Sidekiq.dump_json({'class'=>'Mailer','args'=>['busy@example.com'],'jid'=>'b'*24,'queue'=>'mail'}), run_at: Time.now.to_i})
launcher.send(:heartbeat)
$stdout.flush; exit!(0)
