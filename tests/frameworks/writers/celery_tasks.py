import sys, datetime
from celery import Celery
port = sys.argv[1]
app = Celery('shop', broker=f'redis://127.0.0.1:{port}/0', backend=f'redis://127.0.0.1:{port}/0')
@app.task(name='shop.tasks.send')
def send(to, n):
    if n % 2: raise ValueError('no route to host')
    return {'sent': n}

for i in range(4): send.apply_async((f'u{i}@example.com', i))
for i in range(2): send.apply_async((f'u{i}@example.com', i), queue='mail', priority=0)
send.apply_async(('x@example.com', 1), queue='mail', priority=6)
send.apply_async(('x@example.com', 1), eta=datetime.datetime.utcnow() + datetime.timedelta(days=1))
with app.connection_for_read() as c:
    # takes two messages without acknowledging them, as a worker does
    from kombu import Queue, Exchange
    ch = c.channel(); q = Queue('celery', Exchange('celery'), routing_key='celery')(ch)
    for _ in range(2): m = q.get()
    import os
    # results as the worker's tracer stores them
    for i in range(4):
        import uuid
        tid = str(uuid.uuid4())
        send.backend.mark_as_done(tid, {'sent': i}, request=None) if i % 2 == 0 else send.backend.mark_as_failure(tid, ValueError('no route to host'), traceback='Traceback…', request=None)
    from celery import group
    g = group(send.s('g@example.com', k) for k in range(2))
    res = g.apply_async(queue='mail'); res.save(backend=app.backend)
    sys.stdout.flush(); os._exit(0)
