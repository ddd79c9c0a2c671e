import sys
from django.conf import settings
settings.configure(SECRET_KEY='x', SESSION_ENGINE='django.contrib.sessions.backends.cache',
                   CACHES={'default': {'BACKEND': 'django_redis.cache.RedisCache', 'LOCATION': f'redis://127.0.0.1:{sys.argv[1]}/0', 'KEY_PREFIX': 'shop'}})
import django
django.setup()
from django.core.cache import cache
cache.set('city', 'Zürich', 600)
cache.set('page:1', {'html': '<p>1</p>'}, None)
cache.set('hits', 5, 600)
cache.incr('hits')
from django.contrib.sessions.backends.cache import SessionStore
for number in range(3):
    session = SessionStore()
    session['user_id'] = number
    session.save()
