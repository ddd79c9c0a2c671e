import os, sys, datetime, redis
from rq import Queue, SimpleWorker
from rq.timeouts import BaseDeathPenalty
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tasks
r = redis.Redis(port=int(sys.argv[1]))
for name in ('mail', 'default'):
    q = Queue(name, connection=r)
    for i in range(4): q.enqueue(tasks.send, i, description=f'send {i}', result_ttl=86400000, failure_ttl=86400000)
    SimpleWorker([q], connection=r, name='w-'+name).work(burst=True)
    for i in range(2): q.enqueue(tasks.send, i)
    first = q.enqueue(tasks.send, 8)
    q.enqueue(tasks.send, 9, depends_on=first)
    q.enqueue_in(datetime.timedelta(days=1), tasks.send, 7)
w = SimpleWorker([q], connection=r, name='w-busy'); w.register_birth()
