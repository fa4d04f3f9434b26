#!/usr/bin/env bats
# shoal report --format=html: the page as a parser reads it, and as Chromium draws it. $SHOAL is the program;
# pictures are kept in $SHOAL_PICTURES.

setup_file() {
    export HERE="$BATS_TEST_DIRNAME" DB="$BATS_FILE_TMPDIR/results.db" PAGES="$BATS_FILE_TMPDIR"
    export PICTURES="${SHOAL_PICTURES:-$BATS_FILE_TMPDIR}"
    unset XDG_DATA_HOME
    export LC_ALL=C
    mkdir -p "$PICTURES"
    "$HERE/make-results" "$BATS_FILE_TMPDIR/results.json"
    "$SHOAL" report --db "$DB" --import "$BATS_FILE_TMPDIR/results.json"
    "$SHOAL" report --db "$DB" --format=html --output "$PAGES/tables.html"
    "$SHOAL" report --db "$DB" --format=html --output "$PAGES/beside.html" --beside-reference
    "$SHOAL" report --db "$DB" --format=html --output "$PAGES/list.html" --list
    "$SHOAL" report --format=html --output "$PAGES/reference.html" --reference
    "$SHOAL" report --db "$DB" --format=csv --output "$PAGES/figures.csv"
}

needs_chromium() {
    command -v chromium || command -v chromium-browser || command -v google-chrome || skip "no chromium"
}

# What is drawn of a page: name, width, colour scheme.
measured() {
    local to="$PAGES/$1-$2-$3.json"
    [ -s "$to" ] || timeout -s KILL 150 "$HERE/browse" "$PAGES/$1.html" "$2" "$3" >"$to"
    echo "$to"
}

# Runs a Python expression, which must hold, for each page, width and colour scheme; `m` is what was measured.
holds_everywhere() {
    local page width scheme
    for page in tables beside reference list; do
        for width in 1280 800 400; do
            for scheme in light dark; do
                python3 -c 'import json, sys
m = json.load(open(sys.argv[1]))
wrong = '"$1"'
if wrong:
    sys.exit(f"{sys.argv[1]}: {wrong}")' "$(measured $page $width $scheme)"
            done
        done
    done
}

@test "every page is whole, names what it shows, and asks nobody for anything" {
    for page in tables beside reference list; do
        echo "$page"
        "$HERE/structure" <"$PAGES/$page.html"
    done
}

@test "names are text, whatever they hold" {
    python3 - "$PAGES/tables.html" <<'END'
import html, re, sys
text = open(sys.argv[1]).read()
name = "</title><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> & '\"|"
assert name not in text
assert html.unescape(text).count(name) > 10
assert not re.search(r"<\s*(script|img)", text, re.I)
END
}

@test "the page's figures are those of the text" {
    for choice in '--series cold --series large' --reference; do
        db=(--db "$DB")
        [ "$choice" != --reference ] || db=()
        "$SHOAL" report "${db[@]}" $choice | grep -E '[0-9]:[0-9][0-9]' | grep -v '^ *Series' |
            sed -E 's/ *#+$//; s/:  +/ /; s/  +/ /g; s/^ //' | sort -u >"$BATS_TEST_TMPDIR/text"
        "$SHOAL" report "${db[@]}" $choice --format=html | "$HERE/structure" --cells | sort -u >"$BATS_TEST_TMPDIR/page"
        [ "$(wc -l <"$BATS_TEST_TMPDIR/text")" -ge 10 ]
        run comm -23 "$BATS_TEST_TMPDIR/text" "$BATS_TEST_TMPDIR/page"
        echo "only in the text: $output"
        [ -z "$output" ]
    done
}

@test "bars, whiskers, dots and points are where the figures are, to a pixel" {
    needs_chromium
    for width in 1280 400; do
        "$HERE/drawn" "$BATS_FILE_TMPDIR/results.json" "$PAGES/figures.csv" "$(measured tables $width light)"
    done
}

@test "this machine's bars among the published ones are drawn to one scale" {
    needs_chromium
    "$SHOAL" report --db "$DB" --beside-reference --format=csv >"$BATS_TEST_TMPDIR/beside.csv"
    python3 - "$(measured beside 1280 light)" "$BATS_TEST_TMPDIR/beside.csv" <<'END'
import csv, json, math, sys
figures = json.load(open(sys.argv[1]))["figures"]
rows = list(csv.DictReader(open(sys.argv[2], newline="")))
tables = [[row for row in rows if row["table"] == name and row["rate_kb_s"]] for name in dict.fromkeys(r["table"] for r in rows)]
assert [figure["kind"] for figure in figures] == ["bars", "dots"] * len(tables) and len(tables) == 2
for table, bars, dots in zip(tables, figures[::2], figures[1::2]):
    rates = [float(row["rate_kb_s"]) for row in table]
    assert len(bars["tracks"]) == len(dots["tracks"]) == len(rates) > 12
    full = bars["tracks"][0]["bars"][0]["width"]
    for rate, track in zip(rates, bars["tracks"]):
        assert abs(track["bars"][0]["width"] - full * rate / rates[0]) <= 1, track["title"]
    places = [(track["dots"][0]["left"] + track["dots"][0]["right"]) / 2 for track in dots["tracks"]]
    slope = (places[0] - places[-1]) / math.log(rates[0] / rates[-1])
    for rate, place in zip(rates, places):
        assert abs(place - places[-1] - slope * math.log(rate / rates[-1])) <= 1
END
}

@test "nothing sticks out of a wide or a narrow window" {
    needs_chromium
    holds_everywhere '[m["overflowing"], m["scroll_width"]] if m["overflowing"] or m["scroll_width"] > m["width"] else None'
}

@test "the labels of an axis keep apart" {
    needs_chromium
    holds_everywhere 'm["colliding"]'
}

@test "text stands out from its paper 4.5 to 1, bars 3 to 1, in both colour schemes" {
    needs_chromium
    holds_everywhere '[t for t in m["texts"] if t["contrast"] < 4.5] or len(m["texts"]) < 10'
    holds_everywhere '[t["title"] for f in m["figures"] for t in f["tracks"] for c in t["fills"] if c < 3]'
    holds_everywhere '("dark" in sys.argv[1]) != (int(m["paper"][4:].split(",")[0]) < 128)'
}

@test "keys reach every chart, and what it says is then seen" {
    needs_chromium
    holds_everywhere 'm["unfocusable"]'
}

@test "no script ran, nothing was asked for" {
    needs_chromium
    # The one script is the one that measures.
    holds_everywhere 'm["scripts"] != 1 or m["images"] or m["requests"] or "owned" in m["title"]'
}

@test "a picture of each page is kept" {
    needs_chromium
    for page in tables beside reference; do
        for scheme in light dark; do
            timeout -s KILL 150 "$HERE/browse" "$PAGES/$page.html" 1280 $scheme "$PICTURES/report-$page-$scheme.png"
            [ "$(head -c 4 "$PICTURES/report-$page-$scheme.png" | tail -c 3)" = PNG ]
        done
    done
}
