"""Bodies of functions of ``x``, 4 rows of 6 numbers: what TensorFlow fuses, rewrites, repeats."""

from __future__ import annotations

SETUP = """\
v = tf.Variable(tf.random.stateless_normal([6, 3], [1, 2]))
b = tf.Variable([0.1, -0.2, 0.3])
c = tf.Variable(1.5)
n = tf.Variable(0)
word = tf.Variable("a")
grows = tf.Variable([1.0], shape=[None])
shapeless = tf.Variable(1.0, shape=tf.TensorShape(None))
x = tf.random.stateless_uniform([4, 6], [3, 5], -1.0, 2.0)"""

# What is inside of something that must not happen twice stays unknown, and what a loop gives whose
# body is no function that was traced.
UNKNOWN = frozenset({"loops whose bodies are Defuns"})

CONSTRUCTS = {
    "loops whose bodies are Defuns": """\
y = tf.matmul(x, v)
logits = tf.stack([y, y * 2.0, y + 1.0])
size = tf.fill([4], 3)
return tf.nn.ctc_loss([[1], [2], [1], [2]], logits, tf.fill([4], 1), size, blank_index=0) * 3.0""",
    "dense": """\
return tf.nn.relu(tf.matmul(x, v) + b)""",
    "an output with the name of its first op": """\
y = c * v
z = y * b
return z""",
    "bias_add gelu": """\
return tf.nn.gelu(tf.nn.bias_add(tf.matmul(x, v), b))""",
    "x/3": """\
return tf.reduce_sum(x / 3.0 + x ** 2)""",
    "log1p": """\
return tf.math.log(1.0 + x * x)""",
    "constant moved inwards": """\
s = c * 1.0
for i in tf.range(6):
    s = s - tf.math.log(s)
    s = s - 0.4
return s + (x * tf.sin(x)) * 3.0""",
    "add_n": """\
return tf.add_n([x, x * 2.0, tf.sin(x)]) / 7.0""",
    "softmax xent": """\
return tf.nn.sparse_softmax_cross_entropy_with_logits(tf.constant([0,1,2,0]), tf.matmul(x, v))""",
    "layernorm": """\
m, s = tf.nn.moments(x, [1], keepdims=True)
return (x - m) * tf.math.rsqrt(s + 1e-5)""",
    "reshape chain": """\
y = tf.reshape(x, [6, 4])
y = tf.transpose(y)
return tf.squeeze(tf.expand_dims(y, 0)) * 3.0""",
    "assign": """\
c.assign_add(tf.reduce_sum(x))
return c * x""",
    "variables of strings, and of shapes that change": """\
word.assign(tf.strings.join([word, 'b']))
grows.assign(tf.concat([grows, x[0]], 0))
shapeless.assign(tf.reshape(grows, [-1, 1]) + tf.reduce_sum(shapeless))
y = tf.cast(tf.strings.length(word), tf.float32) * shapeless
return tf.strings.join([word, 'c']), y""",
    "assign read assign": """\
a = c * 2.0
c.assign(a)
d = c * 3.0
c.assign_sub(d)
return a + d + c""",
    "if": """\
if tf.reduce_sum(x) > 0.0:
    y = tf.exp(x) / 3.0
else:
    y = tf.cos(x)
return y""",
    "if writes": """\
if tf.reduce_sum(x) > 5.0:
    c.assign_add(1.0)
return c * x""",
    "nested if": """\
if tf.reduce_sum(x) > 0.0:
    if tf.reduce_max(x) > 1.0:
        y = x * 2.0
    else:
        y = x * 3.0
else:
    y = x
return tf.sin(y)""",
    "while": """\
y = x
while tf.reduce_sum(y) < 1000.0:
    y = y * 1.7 + tf.abs(tf.sin(y))
return y""",
    "for range": """\
y = x
for i in tf.range(5):
    y = tf.tanh(y) + tf.cast(i, tf.float32) / 3.0
return y""",
    "loop in loop": """\
y = x
for i in tf.range(3):
    for j in tf.range(i + 1):
        y = tf.sin(y) + 0.1
return y""",
    "if in loop": """\
y = x
for i in tf.range(6):
    if i % 2 == 0:
        y = tf.sin(y) * 1.5
    else:
        y = tf.exp(-y)
return y""",
    "loops that draw numbers and ask Python": """\
z = x
for i in tf.range(3):
    for j in tf.range(i + 1):
        z = tf.sin(z) + tf.random.normal([4, 6])
        if tf.reduce_sum(z) > 0.0:
            z = z * tf.random.uniform([], seed=2)
    y = tf.numpy_function(np.cos, [x / tf.cast(i + 1, tf.float32)], tf.float32)
    z = z * v[0, 0] + tf.ensure_shape(y, [4, 6])
return z""",
    "a loop that draws how often it turns": """\
with tf.GradientTape() as t:
    z = c * 1.0
    while tf.random.uniform([]) < 0.7:
        z = z * tf.sin(c)
c.assign(z)
return t.gradient(z, c) * x""",
    "a loop over an iterator": """\
s = tf.constant(0.0)
for e in iter(tf.data.Dataset.from_tensor_slices(x).shuffle(4)):
    s += tf.reduce_sum(tf.sin(e * c))
    c.assign_add(0.1 * s)
    if s > 6.0:
        break
return s * x""",
    "loop in if": """\
y = x
if tf.reduce_sum(x) > -100.0:
    for i in tf.range(4):
        y = tf.sin(y)
else:
    y = x * 2.0
return y""",
    "tensorarray": """\
ta = tf.TensorArray(tf.float32, size=4)
for i in tf.range(4):
    ta = ta.write(i, tf.sin(x[i]))
return ta.stack()""",
    "static ta": """\
ta = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
for i in range(3):
    ta = ta.write(i, tf.cos(x[i]))
return ta.stack()""",
    "map_fn": """\
return tf.map_fn(lambda r: tf.reduce_sum(r * r), x)""",
    "scan": """\
return tf.scan(lambda a, r: a + r * 0.5, x)""",
    "vectorized_map": """\
return tf.vectorized_map(lambda r: tf.reduce_sum(r * r), x)""",
    "switch_case": """\
which = tf.cast(tf.reduce_sum(x), tf.int32) % 3
return tf.switch_case(which, [lambda: x * 1.0, lambda: x * 2.0, lambda: tf.sin(x)])""",
    "switch_case out of range": """\
outer = [lambda: x * 1.0, lambda: tf.switch_case(n + 9, [lambda: x + 2.0, lambda: tf.sin(x)])]
return tf.switch_case(n - 3, outer) * 3.0""",
    "jvp of a gradient": """\
with tf.autodiff.ForwardAccumulator(v, tf.ones_like(v)) as acc:
    with tf.GradientTape() as t:
        l = tf.reduce_sum(tf.exp(tf.matmul(x, v)))
    g = t.gradient(l, v)
return acc.jvp(g) * 2.0""",
    "tape": """\
with tf.GradientTape() as t:
    l = tf.reduce_mean(tf.nn.softmax(tf.matmul(x, v) + b)[:, 0])
g = t.gradient(l, [v, b])
v.assign_sub(0.1 * g[0])
b.assign_sub(0.1 * g[1])
return l""",
    "tape loop": """\
with tf.GradientTape() as t:
    y = tf.matmul(x, v)
    for i in tf.range(3):
        y = tf.tanh(y) * c
    l = tf.reduce_sum(y)
return t.gradient(l, [v, c])""",
    "custom_gradient": """\
@tf.custom_gradient
def h(z):
    return tf.sin(z), lambda g: g * 2.0
with tf.GradientTape() as t:
    t.watch(x)
    l = tf.reduce_sum(h(x))
return t.gradient(l, x)""",
    "print": """\
tf.print('hello')
y = tf.sin(x)
if tf.reduce_sum(x) > 0.0:
    tf.print('in branch')
return y * 2.0""",
    "pyfunc": """\
y = tf.sin(x)
z = tf.numpy_function(np.sin, [x], tf.float32)
z.set_shape([4, 6])
return tf.reduce_sum(y), tf.reduce_mean(z)""",
    "random unseeded": """\
return tf.sin(x) + tf.random.normal([4, 6])""",
    "sum with random numbers": """\
return v[0] + tf.random.normal([4, 3]) + tf.sin(b)""",
    "random stateless": """\
return tf.sin(x) + tf.random.stateless_normal([4, 6], [1, 2])""",
    "counter": """\
n.assign_add(1)
return x * tf.cast(n, tf.float32)""",
    "gather scatter": """\
y = tf.gather(x, [0, 2])
z = tf.tensor_scatter_nd_update(x, [[1]], [x[0] * 2.0])
return tf.reduce_sum(y) + tf.reduce_sum(z)""",
    "scatter var": """\
v.scatter_nd_add([[0]], [[1.0, 2.0, 3.0]])
return tf.matmul(x, v)""",
    "conv": """\
y = tf.reshape(x, [1, 4, 6, 1])
k = tf.reshape(v, [3, 3, 1, 2])
return tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(y, k, 1, 'SAME')), 2, 2, 'SAME')""",
    "batchnorm": """\
y = tf.reshape(x, [1, 4, 2, 3])
r = tf.compat.v1.nn.fused_batch_norm(y, b + 1.0, b)[0]
return r * 2.0""",
    "string": """\
return tf.strings.join([tf.strings.as_string(x[0, 0]), 'a'])""",
    "optionals": """\
rows = tf.RaggedTensor.from_row_lengths(x[0], [2, 4])
return [tf.experimental.Optional.from_value(each) for each in (rows, (x * 2.0, b))]""",
    "ragged": """\
r = tf.RaggedTensor.from_row_lengths(x[0], [1, 2, 3])
return tf.reduce_sum(r * 2.0, axis=1)""",
    "dynamic shape": """\
y = tf.boolean_mask(x, x > 0.5)
return tf.reduce_sum(y * 3.0)""",
    "growing loop": """\
y = x[:, :1]
for i in tf.range(3):
    tf.autograph.experimental.set_loop_options(shape_invariants=[(y, tf.TensorShape([4, None]))])
    y = tf.concat([y, y * 2.0], 1)
return y""",
    "shuffled dataset loop": """\
s = tf.constant(0.0)
for e in tf.data.Dataset.from_tensor_slices(x).shuffle(4):
    s += tf.reduce_sum(e)
return s * tf.sin(x)""",
    "shuffled rows of several kinds": """\
s = tf.constant(0.0)
rows = {'x': (x, tf.range(4)), 'word': tf.constant(['a', 'b', 'c', 'd'])}
rows['ragged'] = tf.RaggedTensor.from_row_lengths(x[0], [1, 2, 0, 3])
for row in tf.data.Dataset.from_tensor_slices(rows).map(lambda row: row | {'c': c}).shuffle(4):
    z = tf.add_n([row['x'][0] * 1e3, row['x'][0], x[0] / 3.0]) * tf.random.normal([6])
    b.assign_sub(0.1 * tf.matmul(z[None], v)[0])
    c.assign_add(tf.cast(row['x'][1], tf.float32) + row['c'])
    s += tf.reduce_sum(z) + tf.reduce_sum(row['ragged'])
    if row['word'] == 'c':
        s += 1.0
return s * x""",
    "shuffled rows until one is large": """\
s = tf.constant(0.0)
rows = tf.data.Dataset.from_tensor_slices(x).repeat(2).take(7)
for a, (k, e) in tf.data.Dataset.zip((tf.data.Dataset.range(9), rows)).shuffle(4).enumerate():
    z = tf.sin(e * c) * tf.cast(k + a, tf.float32)
    s += tf.reduce_sum(z)
    if s > 2.0:
        break
return s * x""",
    "random dataset loop in loops": """\
s = tf.constant(0.0)
rows = tf.data.Dataset.from_tensor_slices(x).map(lambda row: row * tf.random.uniform([]))
for k in tf.range(2):
    for e in rows.shuffle(4).batch(3):
        for r in tf.data.Dataset.from_tensor_slices(e):
            s += tf.reduce_sum(r) * tf.random.normal([])
return s * x""",
    "dataset loop": """\
s = tf.constant(0.0)
for i, e in enumerate(tf.data.Dataset.from_tensor_slices(x).map(tf.abs)):
    y = tf.sin(e * c) / 3.0
    s += tf.reduce_sum(y)
    if i == 2:
        break
return s * tf.sin(x)""",
    "dataset loop in a loop that writes": """\
s = tf.constant(0.0)
for e in tf.range(2):
    for r in tf.data.Dataset.from_tensor_slices(x).batch(2):
        y = tf.matmul(r, v) + b
        if tf.reduce_sum(y) > 0.0:
            b.assign_sub(0.1 * tf.reduce_mean(y, 0))
        tf.print('row')
        s += tf.reduce_sum(y)
return s * x""",
    "assert": """\
tf.debugging.assert_less(tf.reduce_max(x), 100.0)
return x * 2.0""",
    "bf16": """\
return tf.cast(tf.cast(x, tf.bfloat16) * tf.cast(b[0], tf.bfloat16), tf.float32)""",
    "einsum": """\
return tf.einsum('ij,jk->ik', x, v) + tf.linalg.norm(x)""",
    "cond v fn": """\
@tf.function
def g(z):
    return tf.sin(z) * c
return g(x) + g(x * 2.0)""",
    "jit": """\
@tf.function(jit_compile=True)
def g(z):
    return tf.nn.relu(tf.matmul(z, v) + b) / 3.0
return g(x) * 2.0""",
}
