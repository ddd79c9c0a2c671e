def send(n):
    if n % 2: raise ValueError('no route to host')
    return {'sent': n}
