"""Applications with ORMs whose tables all lie in several buckets of a Redis Cluster: migrations, unique constraints by value, foreign keys."""
import json
import os

from clients.cluster_clients_test import server_over_cluster
from harness.processes import temporary_folder
from harness.programs import run

SLOW = True
LIMIT = 900
BUCKETS = 16
TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1"


def write(folder, files):
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def python(folder, *arguments):
    command = " ".join(f"'{argument}'" for argument in arguments)
    return run(["sh", "-c", f"cd {folder} && exec /usr/bin/python3 {command}"], env={"PATH": "/usr/bin:/bin"}, timeout=600)


def host_and_port(server):
    return server.address if isinstance(server.address, tuple) else (os.path.dirname(server.address), 5432)


MODELS = """
from django.contrib.auth.models import User
from django.db import models


class Tag(models.Model):
    name = models.CharField(max_length=40, unique=True)


class Article(models.Model):
    author = models.ForeignKey(User, on_delete=models.CASCADE, related_name="articles")
    slug = models.SlugField(unique=True)
    title = models.TextField()
    year = models.IntegerField(db_index=True)
    tags = models.ManyToManyField(Tag)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["author", "title"], name="title_of_author"),
                       models.CheckConstraint(check=models.Q(year__gte=1900), name="year_is_new")]


class Comment(models.Model):
    article = models.ForeignKey(Article, on_delete=models.CASCADE)
    above = models.ForeignKey("self", null=True, on_delete=models.SET_NULL)
    text = models.TextField()
"""

CHANGED_MODELS = MODELS.replace('    year = models.IntegerField(db_index=True)\n', '    published = models.IntegerField(db_index=True, default=2000)\n'
                                '    code = models.CharField(max_length=20, null=True, unique=True)\n').replace("year__gte", "published__gte").replace(
    '    text = models.TextField()\n', '    text = models.CharField(max_length=500)\n    likes = models.BigIntegerField(default=7)\n')

# makemigrations would ask whether a field was renamed.
SECOND_MIGRATION = """
from django.db import migrations, models


def number(apps, schema_editor):
    for article in apps.get_model("blog", "Article").objects.order_by("id"):
        article.code = "code %d" % article.id
        article.save()


class Migration(migrations.Migration):
    dependencies = [("blog", "0001_initial")]
    operations = [
        migrations.RemoveConstraint("article", "year_is_new"),
        migrations.RenameField("article", "year", "published"),
        migrations.AlterField("article", "published", models.IntegerField(db_index=True, default=2000)),
        migrations.AddConstraint("article", models.CheckConstraint(check=models.Q(published__gte=1900), name="year_is_new")),
        migrations.AddField("article", "code", models.CharField(max_length=20, null=True)),
        migrations.RunPython(number, migrations.RunPython.noop),
    ]
"""

THIRD_MIGRATION = """
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("blog", "0002_codes")]
    operations = [
        migrations.AlterField("article", "code", models.CharField(max_length=20, null=True, unique=True)),
        migrations.AlterField("comment", "text", models.CharField(max_length=500)),
        migrations.AddField("comment", "likes", models.BigIntegerField(default=7)),
    ]
"""

FIRST_RUN = """
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Count, F
from blog.models import Article, Comment, Tag

users = [User.objects.create_user("user%d" % n, "user%d@example.com" % n) for n in range(20)]
try:
    with transaction.atomic():
        User.objects.create_user("user7")
except IntegrityError as error:
    print("user7", "auth_user_username_key" in str(error))
Tag.objects.bulk_create([Tag(name="tag %d" % n) for n in range(30)])
Article.objects.bulk_create([Article(author=users[n % 20], slug="slug-%d" % n, title="title %d" % n, year=1990 + n % 30) for n in range(600)])
articles = list(Article.objects.order_by("id"))
for article in articles[:60]:
    article.tags.add(*Tag.objects.filter(name__in=["tag %d" % ((article.year + k) % 30) for k in range(3)]))
with transaction.atomic():
    for n in range(3):
        try:
            with transaction.atomic():
                Article.objects.create(author=users[0], slug="slug-%d" % n, title="again %d" % n, year=2000)
        except IntegrityError:
            Article.objects.filter(slug="slug-%d" % n).update(title=F("title"))
    Article.objects.create(author=users[0], slug="new", title="new", year=2001)
print(Article.objects.get_or_create(slug="slug-5", defaults={"author": users[1], "title": "x", "year": 2000})[1],
      Article.objects.update_or_create(slug="slug-6", defaults={"year": 2021})[1])
try:
    with transaction.atomic():
        Article.objects.create(author=users[3], slug="other", title="title 3", year=2000)
except IntegrityError as error:
    print("title", "title_of_author" in str(error))
first = Comment.objects.create(article=articles[0], text="first")
Comment.objects.bulk_create([Comment(article=articles[n % 50], above=first, text="comment %d" % n) for n in range(300)], batch_size=100)
print(Article.objects.count(), Article.objects.filter(year__gt=2010).count(), Article.objects.filter(tags__name="tag 3").distinct().count())
print(list(User.objects.annotate(n=Count("articles")).order_by("-n", "username").values_list("username", "n")[:2]))
print(list(Article.objects.select_related("author").filter(author__username="user4", year__lt=1996).order_by("slug").values_list("slug", "author__email")[:3]))
print(first.delete()[0], Comment.objects.filter(above=None).count(), articles[1].delete()[0] > 0, Comment.objects.count())
print(User.objects.filter(username="user2").delete()[0], Article.objects.count())
print(list(User.objects.raw("SELECT * FROM auth_user WHERE username = 'user9'"))[0].email)
"""

SECOND_RUN = """
from django.db import IntegrityError, transaction
from blog.models import Article, Comment

article = Article.objects.get(slug="slug-10")
print(article.code == "code %d" % article.id, Article.objects.filter(code=None).count(), Comment.objects.filter(likes=7).count() == Comment.objects.count())
try:
    with transaction.atomic():
        Article.objects.filter(slug="slug-11").update(code=article.code)
except IntegrityError as error:
    print("code", "code" in str(error))
Article.objects.bulk_update([Article(id=a.id, published=a.published + 1) for a in Article.objects.filter(published__lt=2000)], ["published"])
print(Article.objects.filter(published__lt=2000).count() > 0, Article.objects.order_by("published", "slug").first().published)
print(len(Article.objects.filter(author__username__in=["user4", "user5"]).prefetch_related("tags")))
"""


def run_project(server, database="postgres"):
    """Makes a Django project, migrates and uses it. Returns its outputs."""
    host, port = host_and_port(server)
    folder, outputs = temporary_folder(), []
    python(folder, "-m", "django", "startproject", "shop", ".")
    python(folder, "manage.py", "startapp", "blog")
    with open(os.path.join(folder, "shop", "settings.py"), "a", encoding="utf-8") as file:
        file.write(f'DATABASES = {{"default": {{"ENGINE": "django.db.backends.postgresql", "HOST": "{host}", "PORT": "{port}", "NAME": "{database}", '
                   '"USER": "postgres"}}\nINSTALLED_APPS += ["blog"]\n')
    write(folder, {"blog/models.py": MODELS, "first.py": FIRST_RUN, "second.py": SECOND_RUN})
    python(folder, "manage.py", "makemigrations", "blog", "-n", "initial")
    python(folder, "manage.py", "migrate")
    outputs.append(python(folder, "manage.py", "shell", "-c", 'exec(open("first.py").read())'))
    write(folder, {"blog/models.py": CHANGED_MODELS, "blog/migrations/0002_codes.py": SECOND_MIGRATION, "blog/migrations/0003_unique.py": THIRD_MIGRATION})
    python(folder, "manage.py", "migrate")
    python(folder, "manage.py", "makemigrations", "--check", "--dry-run")
    outputs.append(python(folder, "manage.py", "shell", "-c", 'exec(open("second.py").read())'))
    python(folder, "manage.py", "migrate", "blog", "0001")
    python(folder, "manage.py", "migrate", "blog")
    rows = json.loads(python(folder, "manage.py", "dumpdata", "blog.article", "blog.comment"))
    for row in rows:
        row["fields"].get("tags", []).sort()
    return [*outputs, rows]


def test_django_with_tables_in_several_buckets(make_redis, make_server, postgres):
    server = server_over_cluster(make_redis, make_server, buckets=BUCKETS)
    outputs, expected = run_project(server), run_project(postgres, postgres.create_database())
    for output, wanted in zip(outputs, expected):
        assert output == wanted, (output, wanted)
    with server.connect() as connection:
        tables = [name for [name] in connection.run(TABLES)]
        assert len(tables) > 10
        for table in ("blog_article", "blog_comment", "auth_user"):
            assert any(f"Buckets: all {BUCKETS}" in row[0] for row in connection.run(f"EXPLAIN SELECT count(*) FROM {table}")), table
        assert [row for table in tables for row in connection.run(f"SELECT * FROM redquel.check_indexes('{table}')")] == []


LIBRARY = """
import sys
from sqlalchemy import (CheckConstraint, Column, ForeignKey, Integer, Numeric, String, Table, UniqueConstraint, create_engine, delete, func, inspect, select,
                        text, update)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, declarative_base, joinedload, relationship

engine = create_engine(sys.argv[1])
Base = declarative_base()
writers = Table("writer_of_book", Base.metadata, Column("writer", ForeignKey("writer.id", ondelete="CASCADE"), primary_key=True),
                Column("book", ForeignKey("book.id", ondelete="CASCADE"), primary_key=True))


class Writer(Base):
    __tablename__ = "writer"
    id = Column(Integer, primary_key=True)
    mail = Column(String, nullable=False, unique=True)
    name = Column(String, index=True)
    books = relationship("Book", secondary=writers, back_populates="writers")


class Book(Base):
    __tablename__ = "book"
    id = Column(Integer, primary_key=True)
    shelf_id = Column(ForeignKey("shelf.id"))
    isbn = Column(String(20), unique=True)
    title = Column(String, nullable=False)
    price = Column(Numeric(8, 2))
    writers = relationship(Writer, secondary=writers, back_populates="books")
    shelf = relationship("Shelf", back_populates="books")
    __table_args__ = (UniqueConstraint("shelf_id", "title"), CheckConstraint("price > 0"))


class Shelf(Base):
    __tablename__ = "shelf"
    id = Column(Integer, primary_key=True)
    above_id = Column(ForeignKey("shelf.id"))
    name = Column(String, unique=True)
    books = relationship(Book, back_populates="shelf", cascade="all, delete-orphan")
    above = relationship("Shelf", remote_side=[id])


Base.metadata.create_all(engine)
with Session(engine) as session:
    shelves = [Shelf(name="shelf %d" % n) for n in range(10)]
    for shelf in shelves[1:]:
        shelf.above = shelves[0]
    people = [Writer(mail="w%d@example.com" % n, name="name %d" % (n % 9)) for n in range(40)]
    for n in range(200):
        book = Book(isbn="isbn %d" % n, title="title %d" % n, price=n + 1, shelf=shelves[n % 10])
        book.writers = [people[n % 40], people[(n + 7) % 40]]
        session.add(book)
    session.add_all(people)
    session.commit()
    for make in (lambda: Writer(mail="w3@example.com"), lambda: Book(isbn="isbn 5", title="x", shelf=shelves[1], price=1),
                 lambda: Book(isbn="new", title="title 3", shelf=shelves[3], price=1), lambda: Book(isbn="newer", title="y", shelf=shelves[3], price=-1),
                 lambda: Book(isbn="newest", title="y", shelf_id=999, price=1)):
        try:
            with session.begin_nested():
                session.add(make())
        except IntegrityError as error:
            print(error.orig.diag.sqlstate, error.orig.diag.constraint_name)
    session.commit()
    print(session.execute(select(Writer.name, func.count(Book.id)).join(Writer.books).group_by(Writer.name).order_by(Writer.name)).all())
    print([(b.title, sorted(w.mail for w in b.writers)) for b in session.query(Book).options(joinedload(Book.writers)).filter(Book.price.between(20, 22)).order_by(Book.id)])
    added = session.execute(insert(Writer).values([{"mail": "w%d@example.com" % n, "name": "again"} for n in range(35, 45)])
                            .on_conflict_do_update(index_elements=["mail"], set_={"name": "changed"}).returning(Writer.mail, Writer.name)).all()
    print(sorted(map(tuple, added)))
    session.execute(update(Book).where(Book.price > 150).values(price=Book.price * 2))
    session.execute(delete(Writer).where(Writer.name == "name 4"))
    session.commit()
    print(session.execute(text("SELECT count(*), sum(price) FROM book")).all(), session.execute(text("SELECT count(*) FROM writer_of_book")).scalar())
    shelf = session.query(Shelf).filter_by(name="shelf 4").one()
    shelf.books.pop()
    shelf.books[0].isbn, shelf.books[1].isbn = "first", "second"
    session.commit()
    session.delete(shelf)
    session.commit()
    print(session.query(Book).count(), session.query(Shelf).count())
    session.execute(text("ALTER TABLE book ADD COLUMN pages int DEFAULT 100"))
    session.execute(text("ALTER TABLE book ALTER COLUMN isbn TYPE varchar(40), ALTER COLUMN isbn SET NOT NULL"))
    session.execute(text("UPDATE book SET pages = 300 WHERE id % 2 = 0"))
    session.execute(text("CREATE UNIQUE INDEX short_title ON book (title, isbn)"))
    session.commit()
    print(session.execute(text("SELECT pages, count(*) FROM book GROUP BY pages ORDER BY 1")).all())
inspector = inspect(engine)
print(sorted(inspector.get_table_names()))
print(sorted(c["name"] for c in inspector.get_unique_constraints("book")), [f["referred_table"] for f in inspector.get_foreign_keys("book")])
"""


def test_sqlalchemy_with_tables_in_several_buckets(make_redis, make_server, postgres):
    server = server_over_cluster(make_redis, make_server, buckets=BUCKETS)
    folder = temporary_folder()
    write(folder, {"library.py": LIBRARY})

    def run_library(server, database="postgres"):
        host, port = host_and_port(server)
        return python(folder, "library.py", f"postgresql+psycopg2://postgres@/{database}?host={host}&port={port}")

    output, expected = run_library(server), run_library(postgres, postgres.create_database())
    assert output == expected, (output, expected)
    with server.connect() as connection:
        assert any(f"Buckets: all {BUCKETS}" in row[0] for row in connection.run("EXPLAIN SELECT count(*) FROM book"))
        for table in ("book", "writer", "shelf", "writer_of_book"):
            assert connection.run(f"SELECT * FROM redquel.check_indexes('{table}')") == []
