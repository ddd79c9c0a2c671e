"""The eight tables of TPC-H as files for COPY: the same seed and scale give the same rows. Key ranges, dates, prices and the words that
queries look for are distributed as the specification says (4.2.3); texts are shorter and of fewer words than dbgen's."""
import datetime
import os
import random

TABLES = """
CREATE TABLE region (r_regionkey integer PRIMARY KEY, r_name char(25) NOT NULL, r_comment varchar(152));
CREATE TABLE nation (n_nationkey integer PRIMARY KEY, n_name char(25) NOT NULL, n_regionkey integer NOT NULL, n_comment varchar(152));
CREATE TABLE supplier (s_suppkey integer PRIMARY KEY, s_name char(25) NOT NULL, s_address varchar(40) NOT NULL, s_nationkey integer NOT NULL,
  s_phone char(15) NOT NULL, s_acctbal decimal(15,2) NOT NULL, s_comment varchar(101) NOT NULL);
CREATE TABLE part (p_partkey integer PRIMARY KEY, p_name varchar(55) NOT NULL, p_mfgr char(25) NOT NULL, p_brand char(10) NOT NULL,
  p_type varchar(25) NOT NULL, p_size integer NOT NULL, p_container char(10) NOT NULL, p_retailprice decimal(15,2) NOT NULL, p_comment varchar(23) NOT NULL);
CREATE TABLE partsupp (ps_partkey integer NOT NULL, ps_suppkey integer NOT NULL, ps_availqty integer NOT NULL, ps_supplycost decimal(15,2) NOT NULL,
  ps_comment varchar(199) NOT NULL, PRIMARY KEY (ps_partkey, ps_suppkey));
CREATE TABLE customer (c_custkey integer PRIMARY KEY, c_name varchar(25) NOT NULL, c_address varchar(40) NOT NULL, c_nationkey integer NOT NULL,
  c_phone char(15) NOT NULL, c_acctbal decimal(15,2) NOT NULL, c_mktsegment char(10) NOT NULL, c_comment varchar(117) NOT NULL);
CREATE TABLE orders (o_orderkey integer PRIMARY KEY, o_custkey integer NOT NULL, o_orderstatus char(1) NOT NULL, o_totalprice decimal(15,2) NOT NULL,
  o_orderdate date NOT NULL, o_orderpriority char(15) NOT NULL, o_clerk char(15) NOT NULL, o_shippriority integer NOT NULL, o_comment varchar(79) NOT NULL);
CREATE TABLE lineitem (l_orderkey integer NOT NULL, l_partkey integer NOT NULL, l_suppkey integer NOT NULL, l_linenumber integer NOT NULL,
  l_quantity decimal(15,2) NOT NULL, l_extendedprice decimal(15,2) NOT NULL, l_discount decimal(15,2) NOT NULL, l_tax decimal(15,2) NOT NULL,
  l_returnflag char(1) NOT NULL, l_linestatus char(1) NOT NULL, l_shipdate date NOT NULL, l_commitdate date NOT NULL, l_receiptdate date NOT NULL,
  l_shipinstruct char(25) NOT NULL, l_shipmode char(10) NOT NULL, l_comment varchar(44) NOT NULL, PRIMARY KEY (l_orderkey, l_linenumber));
"""
# Made before the rows are loaded: foreign keys, and the dates that queries select by.
INDEXES = """
CREATE INDEX supplier_nation ON supplier {hash} (s_nationkey);
CREATE INDEX partsupp_part ON partsupp {hash} (ps_partkey);
CREATE INDEX partsupp_supplier ON partsupp {hash} (ps_suppkey);
CREATE INDEX customer_nation ON customer {hash} (c_nationkey);
CREATE INDEX orders_customer ON orders {hash} (o_custkey);
CREATE INDEX orders_date ON orders {ordered} (o_orderdate);
CREATE INDEX lineitem_order ON lineitem {hash} (l_orderkey);
CREATE INDEX lineitem_part ON lineitem {hash} (l_partkey);
CREATE INDEX lineitem_supplier ON lineitem {hash} (l_suppkey);
CREATE INDEX lineitem_shipped ON lineitem {ordered} (l_shipdate);
"""
NAMES = ["region", "nation", "supplier", "part", "partsupp", "customer", "orders", "lineitem"]

REGIONS = ["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"]
NATIONS = [("ALGERIA", 0), ("ARGENTINA", 1), ("BRAZIL", 1), ("CANADA", 1), ("EGYPT", 4), ("ETHIOPIA", 0), ("FRANCE", 3), ("GERMANY", 3), ("INDIA", 2),
           ("INDONESIA", 2), ("IRAN", 4), ("IRAQ", 4), ("JAPAN", 2), ("JORDAN", 4), ("KENYA", 0), ("MOROCCO", 0), ("MOZAMBIQUE", 0), ("PERU", 1),
           ("CHINA", 2), ("ROMANIA", 3), ("SAUDI ARABIA", 4), ("VIETNAM", 2), ("RUSSIA", 3), ("UNITED KINGDOM", 3), ("UNITED STATES", 1)]
COLOURS = ("almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood burnished chartreuse chiffon chocolate coral "
           "cornflower cornsilk cream cyan dark deep dim dodger drab firebrick floral forest frosted gainsboro ghost goldenrod green grey honeydew hot "
           "indian ivory khaki lace lavender lawn lemon light lime linen magenta maroon medium metallic midnight mint misty moccasin navajo navy olive "
           "orange orchid pale papaya peach peru pink plum powder puff purple red rose rosy royal saddle salmon sandy seashell sienna sky slate smoke "
           "snow spring steel tan thistle tomato turquoise violet wheat white yellow").split()
TYPES = [f"{a} {b} {c}" for a in ("STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO")
         for b in ("ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED") for c in ("TIN", "NICKEL", "BRASS", "STEEL", "COPPER")]
CONTAINERS = [f"{a} {b}" for a in ("SM", "LG", "MED", "JUMBO", "WRAP") for b in ("CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM")]
SEGMENTS = ["AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"]
PRIORITIES = ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"]
INSTRUCTIONS = ["DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"]
MODES = ["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"]
WORDS = ("foxes ideas theodolites pinto beans instructions dependencies excuses platelets asymptotes courts dolphins multipliers sauternes warthogs "
         "frets dinos attainments somas pains patterns forges braids frays warhorses dugouts notornis epitaphs pearls tithes waters orbits gifts sheaves "
         "depths sentiments decoys realms escapades sleep wake are cajole haggle nag use boost affix detect integrate maintain nod was lose sublate solve "
         "thrash promise engage hinder print doze run dazzle snooze doubt unwind kindle play hang believe special pending unusual express requests "
         "accounts packages deposits furious sly careful blithe quick fluffy slow quiet ruthless thin close dogged daring brave stealthy permanent "
         "enticing idle busy regular final ironic even bold silent").split()
START, TODAY, DAYS = datetime.date(1992, 1, 1), datetime.date(1995, 6, 17), 2406  # the last order is 151 days before the end of 1998


def generate(folder, scale, seed=22):
    """Writes one file for each table, named like it, into the folder."""
    os.makedirs(folder, exist_ok=True)
    pick = random.Random(seed)
    suppliers, parts, customers, orders = (round(scale * count) for count in (10_000, 200_000, 150_000, 1_500_000))
    days = [START + datetime.timedelta(days=day) for day in range(DAYS + 200)]
    dates, today = [day.isoformat() for day in days], (TODAY - START).days
    phrases = [" ".join(pick.choices(WORDS, k=3)) for _ in range(20_000)]

    def comment(limit):
        return f"{pick.choice(phrases)} {pick.choice(phrases)}"[:limit].rstrip()

    def phone(nation):
        return f"{nation + 10}-{pick.randint(100, 999)}-{pick.randint(100, 999)}-{pick.randint(1000, 9999)}"

    def address():
        return "".join(pick.choices("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ,", k=pick.randint(10, 40))).strip()

    def cents(value):
        return f"{'-' if value < 0 else ''}{abs(value) // 100}.{abs(value) % 100:02d}"

    def balance():
        return cents(pick.randint(-99_999, 999_999))

    def retail(part):  # cents
        return 90_000 + part // 10 % 20_001 + 100 * (part % 1_000)

    def supplier_of(part, place):
        return (part + place * (suppliers // 4 + (part - 1) // suppliers)) % suppliers + 1

    def write(table, rows):
        with open(f"{folder}/{table}", "w") as file:
            file.writelines("\t".join(map(str, row)) + "\n" for row in rows)

    def supplier_rows():
        for key in range(1, suppliers + 1):
            nation, text = pick.randrange(25), comment(70)
            if pick.random() < 0.001:
                text += " Customer Recommends" if pick.random() < 0.5 else " Customer Complaints"
            yield key, f"Supplier#{key:09d}", address(), nation, phone(nation), balance(), text

    def part_rows():
        for key in range(1, parts + 1):
            maker = pick.randint(1, 5)
            yield (key, " ".join(pick.sample(COLOURS, 5)), f"Manufacturer#{maker}", f"Brand#{maker}{pick.randint(1, 5)}", pick.choice(TYPES),
                   pick.randint(1, 50), pick.choice(CONTAINERS), cents(retail(key)), comment(22))

    def customer_rows():
        for key in range(1, customers + 1):
            nation = pick.randrange(25)
            yield key, f"Customer#{key:09d}", address(), nation, phone(nation), balance(), pick.choice(SEGMENTS), comment(116)

    def order_and_line_rows():
        clerks = max(1, round(scale * 1_000))
        with open(f"{folder}/orders", "w") as order_file, open(f"{folder}/lineitem", "w") as line_file:
            for number in range(orders):
                key = number // 8 * 32 + number % 8 + 1  # as dbgen: an eighth of the keys is used
                customer = pick.randrange(customers // 3) * 3 + pick.randint(1, 2)  # a third of the customers has no order
                day, total, shipped = pick.randrange(DAYS), 0, 0
                lines = pick.randint(1, 7)
                for line in range(1, lines + 1):
                    part, quantity = pick.randint(1, parts), pick.randint(1, 50)
                    price, discount, tax = quantity * retail(part), pick.randint(0, 10), pick.randint(0, 8)
                    ship = day + pick.randint(1, 121)
                    receipt = ship + pick.randint(1, 30)
                    total += price * (100 + tax) * (100 - discount) // 10_000
                    shipped += ship <= today
                    line_file.write(f"{key}\t{part}\t{supplier_of(part, pick.randrange(4))}\t{line}\t{quantity}.00\t{cents(price)}\t0.{discount:02d}\t"
                                    f"0.{tax:02d}\t{pick.choice('RA') if receipt <= today else 'N'}\t{'F' if ship <= today else 'O'}\t{dates[ship]}\t"
                                    f"{dates[day + pick.randint(30, 90)]}\t{dates[receipt]}\t{pick.choice(INSTRUCTIONS)}\t{pick.choice(MODES)}\t{comment(43)}\n")
                status = "F" if shipped == lines else "O" if shipped == 0 else "P"
                order_file.write(f"{key}\t{customer}\t{status}\t{cents(total)}\t{dates[day]}\t{pick.choice(PRIORITIES)}\tClerk#{pick.randint(1, clerks):09d}\t0\t"
                                 f"{comment(78)}\n")

    write("region", ((key, name, comment(100)) for key, name in enumerate(REGIONS)))
    write("nation", ((key, name, region, comment(100)) for key, (name, region) in enumerate(NATIONS)))
    write("supplier", supplier_rows())
    write("part", part_rows())
    write("partsupp", ((part, supplier_of(part, place), pick.randint(1, 9_999), cents(pick.randint(100, 100_000)), comment(120))
                       for part in range(1, parts + 1) for place in range(4)))
    write("customer", customer_rows())
    order_and_line_rows()
