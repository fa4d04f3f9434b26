#!/usr/bin/env bats
# shoal report. $SHOAL is the program.

bats_require_minimum_version 1.5.0

setup() {
    db="$BATS_TEST_TMPDIR/results.db" json="$BATS_TEST_TMPDIR/results.json"
    unset XDG_DATA_HOME
    export HOME="$BATS_TEST_TMPDIR/home"
    export LC_ALL=C # bars are of '#'
}

# One sample: its block and its real time in milliseconds.
sample() {
    printf '{"block": %d, "real_ns": %d000000, "synced_ns": %d000000, "user_ns": 1000000,
             "sys_ns": 2000000, "max_rss_kb": 4096, "exit_status": 0}' "$1" "$2" $(($2 + 100))
}

# A method: name, verdict, why, and the real times of its samples in milliseconds.
method() {
    local name=$1 verdict=$2 why=$3 block=0 samples=
    shift 3
    for ms; do
        samples+=${samples:+,}$(sample $block "$ms")
        block=$((block + 1))
    done
    printf '{"name": "%s", "command": "%s {from} {to}", "version": "", "verdict": "%s", "why": "%s",
             "samples": [%s]}' "$name" "$name" "$verdict" "$why" "$samples"
}

# A series: id, workload, files, bytes, cold, and its methods.
series() {
    local id=$1 workload=$2 files=$3 bytes=$4 cold=$5
    shift 5
    local IFS=,
    printf '{"id": "%s", "started": "2024-05-08T12:00:00Z",
             "system": {"name": "Toy CPU 1MHz", "cpu": "Toy CPU 1MHz", "cores": 2,
                        "memory_kb": 1048576, "kernel": "Linux 6.1.0"},
             "from": {"path": "/from", "type": "ext4", "options": "rw", "has_journal": true},
             "to": {"path": "/to", "type": "xfs", "options": "rw", "has_journal": null},
             "workload": "%s", "seed": 1, "files": %d, "bytes": %d, "cold": %s, "methods": [%s]}' \
        "$id" "$workload" "$files" "$bytes" "$cold" "$*"
}

# A JSON file of these series.
document() {
    local IFS=,
    printf '{"schema": "shoal-results", "version": 1, "series": [%s]}' "$*" >"$json"
}

# A new database of these series.
results() {
    document "$@"
    rm -f "$db"
    "$SHOAL" report --db "$db" --import "$json" >/dev/null
}

insight_bytes=$((76289 * 1024))

warm() {
    series warm insight 2200 $insight_bytes false \
        "$(method tar right '' 2000 2200 1800 2100 1900)" \
        "$(method shoal right '' 1000 1100 900 1050 950)" \
        "$(method cp wrong "'a' differs" 500 500 500)" \
        "$(method rsync failed 'exit status 23')" \
        "$(method rclone missing '')"
}

cold() {
    series cold insight 2200 $insight_bytes true \
        "$(method tar unchecked '' 12000 13000 20000 13500 12500)" \
        "$(method shoal right '' 78000 78000 78000 78000 78000)"
}

large() {
    series large one-large 1 $insight_bytes false \
        "$(method tar right '' 400)" "$(method shoal right '' 500)"
}

fits_80_columns() {
    awk 'length($0) > 80 { print "wide: " $0; bad = 1 } / $/ { print "blank at its end: " $0; bad = 1 }
         END { exit bad }' <<<"$output"
}

@test "--reference prints the published tables, figure by figure" {
    cat >"$BATS_TEST_TMPDIR/published" <<'END'
SGI Performance Comparisons: Copying Many Smaller Files Straight to Disk
insight: about 2,200 files, 76,289 KB, from the IRIS Development Option 7.1 CD
  for IRIX 6.3; rates in KB/s

   timex tar cBpf - insight | ( cd /var/tmp/t ; tar xBpf - )


Results for Origin200 R10000SC 180MHz (1MB L2):

CDROM     Time     Data
Speed    (m:ss)    Rate

  2X
 32X      1:18     978

        Table 41


Results for O2 R5000SC 200MHz (the 12X is the O2's internal CDROM):

CDROM     Time     Data
Speed    (m:ss)    Rate

  2X      4:46     267
 12X      2:24     530
 32X      1:48     706

        Table 27


Results for Indigo2 250MHz R4400SC:

CDROM     Time     Data
Speed    (m:ss)    Rate

  2X      4:50     263
 32X      1:48     706

        Table 28


Results for Indy 200MHz R4400SC:

CDROM     Time     Data
Speed    (m:ss)    Rate

  2X      5:02     253
 32X      2:03     620

        Table 29


Results for Indy 133MHz R4600PC:

CDROM     Time     Data
Speed    (m:ss)    Rate

  2X      5:22     237
 32X      3:24     374

        Table 30


Results for Indy 100MHz R4600PC:

CDROM     Time     Data
Speed    (m:ss)    Rate

  2X      5:27     233
 32X      3:26     370

        Table 31


                         Time     Data
                        (m:ss)    Rate

O2 R5000SC 200MHz 1MB:   4:46     267
Indigo2 250MHz R4400SC:  4:50     263
Indy 200MHz R4400SC:     5:02     253
Indy 133MHz R4600PC:     5:22     237
Indy 100MHz R4600PC:     5:27     233

   Table 32: 2X CDROM Performance
   Copying many small files to disk.


                         Time     Data
                        (m:ss)    Rate

O2 R5000SC 200MHz 1MB:   1:48     706
Indigo2 250MHz R4400SC:  1:48     706
Indy 200MHz R4400SC:     2:03     620
Indy 133MHz R4600PC:     3:24     374
Indy 100MHz R4600PC:     3:26     370

   Table 33: 32X CDROM Performance
   Copying many small files to disk.
END
    "$SHOAL" report --reference | diff -u "$BATS_TEST_TMPDIR/published" -
    run "$SHOAL" report --reference
    [ "$status" -eq 0 ]
    fits_80_columns
}

@test "--reference --json prints the thirteen cells" {
    "$SHOAL" report --reference --json | python3 -c '
import json, sys
data = json.load(sys.stdin)
cells = [(m["table"], c["drive"], c["seconds"], c["rate"])
         for m in data["machines"] for c in m["cells"]]
assert cells == [
    (41, "2X", None, None), (41, "32X", 78, 978),
    (27, "2X", 286, 267), (27, "12X", 144, 530), (27, "32X", 108, 706),
    (28, "2X", 290, 263), (28, "32X", 108, 706),
    (29, "2X", 302, 253), (29, "32X", 123, 620),
    (30, "2X", 322, 237), (30, "32X", 204, 374),
    (31, "2X", 327, 233), (31, "32X", 206, 370)], cells'
}

@test "a series ranks right methods by median, and names the others with the reason" {
    results "$(warm)"
    run "$SHOAL" report --db "$db"
    [ "$status" -eq 0 ]
    fits_80_columns
    cat >"$BATS_TEST_TMPDIR/expected" <<'END'
Results for Toy CPU 1MHz:
insight, 2,200 files, 76,289 KB, to xfs (/to)

                          Time  On Disk   Data  Files  Times
 #  Method  Source      (m:ss)   (m:ss)   Rate     /s  as Long

1   shoal   ext4 warm  0:01.00  0:01.10  76289   2200  1.00              #######
2   tar     ext4 warm  0:02.00  0:02.10  38145   1100  2.00 (1.64-2.44)  ####

  Not ranked: cp, ext4 warm: the copy is wrong: 'a' differs.
  Not ranked: rsync, ext4 warm: it failed: exit status 23.
  Not ranked: rclone, ext4 warm: not on this machine.
  Series warm, ext4 warm: 5 runs of each; times as long as shoal; 2 cores, Linux
    6.1.0.

END
    diff -u "$BATS_TEST_TMPDIR/expected" <("$SHOAL" report --db "$db")
}

@test "warm and cold stay apart, each with its own ranking and baseline" {
    results "$(warm)" "$(cold)"
    run "$SHOAL" report --db "$db"
    [ "$status" -eq 0 ]
    fits_80_columns
    cat >"$BATS_TEST_TMPDIR/expected" <<'END'
Results for Toy CPU 1MHz:
insight, 2,200 files, 76,289 KB, to xfs (/to)

                          Time  On Disk   Data  Files  Times
 #  Method  Source      (m:ss)   (m:ss)   Rate     /s  as Long

1   shoal   ext4 warm  0:01.00  0:01.10  76289   2200  1.00              #######
2   tar     ext4 warm  0:02.00  0:02.10  38145   1100  2.00 (1.64-2.44)  ####

1   tar     ext4 cold     0:13     0:13   5868    169  0.17 (0.15-0.26)  #
2   shoal   ext4 cold     1:18     1:18    978     28  1.00

  Not ranked: cp, ext4 warm: the copy is wrong: 'a' differs.
  Not ranked: rsync, ext4 warm: it failed: exit status 23.
  Not ranked: rclone, ext4 warm: not on this machine.
  Series warm, ext4 warm: 5 runs of each; times as long as shoal; 2 cores, Linux
    6.1.0.
  Not checked: tar, ext4 cold: its copy was not compared.
  Outliers: tar, ext4 cold: 1 of 5 runs, further than 3.5 scaled deviations from
    the median; kept.
  Series cold, ext4 cold: 5 runs of each; times as long as shoal; 2 cores, Linux
    6.1.0.

                              Time   Data
Method  System        To    (m:ss)   Rate

shoal   Toy CPU 1MHz  xfs  0:01.00  76289  ##############################
tar     Toy CPU 1MHz  xfs  0:02.00  38145  ###############

   ext4 warm Performance
   Copying insight: 2,200 files, 76,289 KB.

                             Time  Data
Method  System        To   (m:ss)  Rate

tar     Toy CPU 1MHz  xfs    0:13  5868  ##############################
shoal   Toy CPU 1MHz  xfs    1:18   978  #####

   ext4 cold Performance
   Copying insight: 2,200 files, 76,289 KB.

END
    diff -u "$BATS_TEST_TMPDIR/expected" <("$SHOAL" report --db "$db")
}

@test "where the samples show no difference, ranks are shared and the pair is named" {
    results "$(series close insight 2200 $insight_bytes false \
        "$(method tar right '' 2000 2020 1980 2010 1990 2000)" \
        "$(method cp right '' 1010 990 1020 980 1000 1000)" \
        "$(method shoal right '' 1000 1010 990 1000 1010 990)")"
    cat >"$BATS_TEST_TMPDIR/expected" <<'END'
 #  Method  Source      (m:ss)   (m:ss)   Rate     /s  as Long

1=  cp      ext4 warm  0:01.00  0:01.10  76289   2200  1.00 (0.98-1.03)  #######
1=  shoal   ext4 warm  0:01.00  0:01.10  76289   2200  1.00              #######
3   tar     ext4 warm  0:02.00  0:02.10  38145   1100  2.00 (1.97-2.02)  ####

  Undecided: no difference shown between cp and shoal, ext4 warm: 1.00
    (0.97-1.02).
  Series close, ext4 warm: 6 runs of each; times as long as shoal; 2 cores,
    Linux 6.1.0.

END
    diff -u "$BATS_TEST_TMPDIR/expected" <("$SHOAL" report --db "$db" | sed -n '/^ #/,$p')
    "$SHOAL" report --db "$db" --json | python3 -c '
import json, sys
series = json.load(sys.stdin)["series"][0]
figures = [m["figures"] for m in series["methods"]]
assert [(f["rank"], f["rank_shared"]) for f in figures] == [(1, True), (1, True), (3, False)]
assert [(u["faster"], u["slower"], u["pairs"]) for u in series["undecided"]] == [("cp", "shoal", 6)]'
}

@test "of too few runs no difference is shown" {
    results "$(series few insight 2200 $insight_bytes false \
        "$(method tar right '' 2000 2020 1980 2010)" "$(method shoal right '' 1000 1010 990 1000)")"
    run "$SHOAL" report --db "$db"
    fits_80_columns
    [[ $output == *$'\n1=  shoal '*$'\n1=  tar '* ]]
    [[ $(tr -s ' \n' ' ' <<<"$output") == *" Undecided: no difference shown between shoal and tar, \
ext4 warm: 2.00, of 4 runs in the same blocks; 5 are needed. "* ]]
    rm "$db"
    results "$(series few insight 2200 $insight_bytes false "$(method tar right '' 2000 2020)" \
        "$(method shoal right '' 1000 1010)" "$(method cp right '' 1000 1010)")"
    run "$SHOAL" report --db "$db"
    [[ $(tr -s ' \n' ' ' <<<"$output") == *" Undecided: no difference shown between any two methods, \
ext4 warm: it takes 5 runs in the same blocks. "* ]]
    [ "$(grep -c Undecided <<<"$output")" -eq 1 ]
}

@test "a group of results: some workloads, some methods" {
    results "$(warm)" "$(large)"
    run "$SHOAL" report --db "$db" --workload one-large
    [ "$status" -eq 0 ]
    [[ $output == *one-large* && $output != *insight* ]]
    run "$SHOAL" report --db "$db" --method tar --workload insight
    [ "$status" -eq 0 ]
    fits_80_columns
    [[ $output == *"1   tar "* && $output != *shoal\ \ * && $output != *"cp, ext4"* ]]
    run "$SHOAL" report --db "$db" --method tar --method shoal --format=csv
    [ "$(grep -c insight <<<"$output")" -eq 2 ]
    run "$SHOAL" report --db "$db" --method nosuch
    [ "$status" -eq 1 ]
    [[ $output == "shoal: cannot report from "*": no series there is of these workloads and methods" ]]
    run "$SHOAL" report --reference --method tar
    [ "$status" -eq 2 ]
}

@test "many small files stand beside one large file" {
    results "$(warm)" "$(large)"
    run "$SHOAL" report --db "$db"
    [ "$status" -eq 0 ]
    fits_80_columns
    cat >"$BATS_TEST_TMPDIR/expected" <<'END'
Many small files and one large file, Toy CPU 1MHz, to xfs:
insight, 2,200 files, 76,289 KB, and one-large, 1 file, 76,289 KB

                   Small   Large  Large/
Method  Source      Rate    Rate   Small

shoal   ext4 warm  76289  152578    2.00
tar     ext4 warm  38145  190723    5.00

  One large file moves at 2.00 (shoal) to 5.00 (tar) times the rate of many
    small ones. What each file costs decides, not the rate of the medium: a
    device's rate says little about how long many small files take, so measure
    with files like your own.

END
    diff -u "$BATS_TEST_TMPDIR/expected" \
        <("$SHOAL" report --db "$db" | sed -n '/^Many small files and/,$p')
}

@test "--beside-reference ranks this machine among the published ones" {
    results "$(warm)" "$(cold)"
    run "$SHOAL" report --beside-reference --db "$db"
    [ "$status" -eq 0 ]
    fits_80_columns
    cat >"$BATS_TEST_TMPDIR/expected" <<'END'
Toy CPU 1MHz (*) beside the published machines, each copying 2,200 files, 76,289
  KB:

                                         Time   Data      Times
Machine or Method          Source      (m:ss)   Rate  Origin200

* shoal, to xfs            ext4 warm  0:01.00  76289       78.0  ###############
* tar, to xfs              ext4 warm  0:02.00  38145       39.0  ########
* tar, to xfs              ext4 cold     0:13   5868       6.00  #
* shoal, to xfs            ext4 cold     1:18    978       1.00
Origin200 R10000SC 180MHz  32X           1:18    978       1.00
O2 R5000SC 200MHz          32X           1:48    706       0.72
Indigo2 R4400SC 250MHz     32X           1:48    706       0.72
Indy R4400SC 200MHz        32X           2:03    620       0.63
O2 R5000SC 200MHz          12X           2:24    530       0.54
Indy R4600PC 133MHz        32X           3:24    374       0.38
Indy R4600PC 100MHz        32X           3:26    370       0.38
O2 R5000SC 200MHz          2X            4:46    267       0.27
Indigo2 R4400SC 250MHz     2X            4:50    263       0.27
Indy R4400SC 200MHz        2X            5:02    253       0.26
Indy R4600PC 133MHz        2X            5:22    237       0.24
Indy R4600PC 100MHz        2X            5:27    233       0.24
Origin200 R10000SC 180MHz  2X

END
    diff -u "$BATS_TEST_TMPDIR/expected" <("$SHOAL" report --beside-reference --db "$db")
}

@test "--beside-reference refuses another amount of data" {
    results "$(large)"
    run "$SHOAL" report --beside-reference --db "$db"
    [ "$status" -eq 1 ]
    [[ $output == "shoal: cannot compare results from '$db': none of this choice copied as much as "* ]]
    [ "${#lines[@]}" -eq 1 ]
}

@test "the default is the last series of each kind; --last, --series and --all choose others" {
    results "$(warm)" "$(cold)" "$(series again insight 2200 $insight_bytes false \
        "$(method shoal right '' 700)")"
    ids() { grep -o 'Series [a-z]*' <<<"$output" | tr '\n' ' '; }

    run "$SHOAL" report --db "$db"
    [ "$(ids)" = "Series cold Series again " ]
    run "$SHOAL" report --db "$db" --last
    [ "$(ids)" = "Series again " ]
    run "$SHOAL" report --db "$db" --series warm
    [ "$(ids)" = "Series warm " ]
    run "$SHOAL" report --db "$db" --series warm --series cold
    [ "$(ids)" = "Series warm Series cold " ]
    run "$SHOAL" report --db "$db" --all
    [ "$(ids)" = "Series warm Series cold Series again " ]
    run "$SHOAL" report --db "$db" --list
    [ "$(awk 'NR > 3 { print $1 }' <<<"$output" | tr '\n' ' ')" = "warm cold again " ]
    fits_80_columns
}

@test "--baseline changes what times are multiples of" {
    results "$(warm)"
    run "$SHOAL" report --db "$db" --baseline tar
    [[ $output == *"times as long as tar"* ]]
    [[ $output =~ shoal.*\ 0\.50\  ]]
}

@test "--json gives the same figures to programs" {
    results "$(warm)" "$(cold)"
    "$SHOAL" report --db "$db" --json | python3 -c '
import json, sys
data = json.load(sys.stdin)
assert (data["schema"], data["version"]) == ("shoal-report", 1)
warm, cold = data["series"]
assert (warm["cold"], cold["cold"]) == (False, True)
assert warm["from"]["has_journal"] is True and warm["to"]["has_journal"] is None
assert warm["baseline"] == "shoal"
assert [m["name"] for m in warm["methods"]] == ["shoal", "tar", "cp", "rsync", "rclone"]
shoal, tar, cp = warm["methods"][:3]
assert shoal["figures"]["rank"] == 1 and shoal["figures"]["real_ns"] == 1000000000
assert shoal["figures"]["real_mad_ns"] == 50000000
assert shoal["figures"]["rate_kb_s"] == 76289 and shoal["figures"]["files_s"] == 2200
assert tar["figures"]["rank"] == 2 and not tar["figures"]["rank_shared"]
low, high = tar["figures"]["as_long_interval"]
assert tar["figures"]["as_long"] == 2 and low == 1800 / 1100 and high == 2200 / 900
assert shoal["figures"]["real_interval_ns"] == [900000000, 1100000000]
assert shoal["figures"]["synced_interval_ns"] == [1000000000, 1200000000]
assert cold["methods"][0]["figures"]["outliers"] == 1
assert warm["undecided"] == []
assert tar["figures"]["synced_ns"] == 2100000000
assert cp["figures"] is None and cp["verdict"] == "wrong"'
}

@test "bars are of block elements where the locale has them, in eighths" {
    results "$(warm)" "$(cold)"
    LC_ALL=C.UTF-8 "$SHOAL" report --db "$db" >"$BATS_TEST_TMPDIR/text"
    python3 - "$BATS_TEST_TMPDIR/text" <<'END'
import sys
text = open(sys.argv[1], encoding="utf-8").read()
assert all(len(line) <= 80 for line in text.splitlines())
bars = [line.split()[-1] for line in text.splitlines() if line[-1:] >= "\u2588"]
# Of 7 columns: 7, 3.5, 0.5 and 0.1, then of 30.
assert bars == ["\u2588" * 7, "\u2588" * 3 + "\u258c", "\u258c", "\u258f", "\u2588" * 30, "\u2588" * 15,
                "\u2588" * 30, "\u2588" * 5], bars
END
}

@test "--format=csv has a header and a line for each method of each series, unrounded" {
    results "$(series odd 'a, \"b\"' 3 1000 false "$(method '=1+1' right '' 3000 3000)" \
        "$(method 'line\nbreak' wrong "'a' differs")")" "$(cold)"
    "$SHOAL" report --db "$db" --format=csv >"$BATS_TEST_TMPDIR/csv"
    [ "$(tail -c 2 "$BATS_TEST_TMPDIR/csv" | od -An -tx1 | tr -d ' ')" = 0d0a ]
    python3 - "$BATS_TEST_TMPDIR/csv" <<'END'
import csv, sys
text = open(sys.argv[1], newline="").read()
assert text.count("\r\n") == text.count("\n") == 5
rows = list(csv.DictReader(open(sys.argv[1], newline=""), strict=True))
odd, broken, tar, shoal = rows
assert odd["method"] == "'=1+1" and odd["workload"] == 'a, "b"' and broken["method"] == "line?break"
assert float(odd["rate_kb_s"]) == 1000 / 1024 / 3 and float(odd["files_s"]) == 1, odd
assert (odd["rank"], odd["runs"], odd["verdict"], odd["not_ranked"]) == ("1", "2", "right", "")
assert (tar["rank"], tar["rank_shared"], tar["outliers"], broken["outliers"]) == ("1", "0", "1", "")
assert (broken["rank"], broken["real_ns"], broken["not_ranked"]) == ("", "", "the copy is wrong: 'a' differs")
assert tar["real_ns"] == "13000000000" and tar["baseline"] == "shoal" and float(tar["as_long"]) == 13 / 78
assert float(tar["rate_low_kb_s"]) < float(tar["rate_kb_s"]) < float(tar["rate_high_kb_s"])
assert float(shoal["rate_low_kb_s"]) == float(shoal["rate_kb_s"]) == 76289 / 78
END
    "$SHOAL" report --db "$db" --list --format=csv | diff -u <(printf '%s\r\n' \
        series,started,workload,source,to,methods \
        'odd,2024-05-08T12:00:00Z,"a, ""b""",ext4 warm,xfs,2' \
        'cold,2024-05-08T12:00:00Z,insight,ext4 cold,xfs,2') -
    "$SHOAL" report --reference --format=csv | python3 -c '
import csv, sys
cells = [(row["table"], row["drive"], row["real_ns"], row["rate_kb_s"]) for row in csv.DictReader(sys.stdin)]
assert len(cells) == 13
assert cells[0] == ("Results for Origin200 R10000SC 180MHz (1MB L2)", "2X", "", "")
assert cells[1][1:] == ("32X", "78000000000", "978")'
}

@test "--format=markdown has tables that GitHub renders, and no markup in names" {
    results "$(series marked '*a*' 3 1024 false "$(method 'a|b`<i>@c_d' right '' 3000)")"
    cat >"$BATS_TEST_TMPDIR/expected" <<'END'
# Copying Many Small Files

Measured on Toy CPU 1MHz: 2 cores, 1,048,576 KB of memory, Linux 6.1.0.

One series, started 2024-05-08T12:00:00Z.

## Results for Toy CPU 1MHz

\*a\*, 3 files, 1 KB, to xfs (/to)

| &#35; | Method | Source | Time (m:ss) | On Disk (m:ss) | Data Rate | Files/s | Times as Long |
| ---: | :--- | :--- | ---: | ---: | ---: | ---: | :--- |
| 1  | a\|b\`&#60;i&#62;&#64;c\_d | ext4 warm | 0:03.00 | 0:03.10 | 0 | 1 | 1.00 |

- Series marked, ext4 warm: 1 run of each; times as long as a\|b\`&#60;i&#62;&#64;c\_d; 2 cores, Linux 6.1.0.

END
    diff -u "$BATS_TEST_TMPDIR/expected" <("$SHOAL" report --db "$db" --format=markdown)
    [ "$("$SHOAL" report --reference --format=markdown | grep -c '^## Table ')" -eq 8 ]
}

@test "--format=html is one page; --format=json is what --json is" {
    results "$(warm)"
    "$SHOAL" report --db "$db" --format=html >"$BATS_TEST_TMPDIR/page"
    [ "$(head -n 1 "$BATS_TEST_TMPDIR/page")" = '<!doctype html>' ]
    [ "$(tail -n 1 "$BATS_TEST_TMPDIR/page")" = '</html>' ]
    cmp <("$SHOAL" report --db "$db" --json) <("$SHOAL" report --db "$db" --format=json)
    cmp <("$SHOAL" report --db "$db") <("$SHOAL" report --db "$db" --format=text)
}

@test "--output writes a file, and leaves it as it was where there is nothing to write" {
    results "$(large)"
    file="$BATS_TEST_TMPDIR/report.txt"
    run "$SHOAL" report --db "$db" --output "$file"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    cmp "$file" <("$SHOAL" report --db "$db" --output -)
    run "$SHOAL" report --db "$db" --output "$file" --beside-reference
    [ "$status" -eq 1 ]
    cmp "$file" <("$SHOAL" report --db "$db")

    run "$SHOAL" report --db "$db" --output "$BATS_TEST_TMPDIR/none/file"
    [ "$status" -eq 1 ]
    [ "$output" = "shoal: cannot write the report to '$BATS_TEST_TMPDIR/none/file': No such file or directory" ]
    [ -w /dev/full ] || skip "no /dev/full"
    run "$SHOAL" report --db "$db" --output /dev/full
    [ "$status" -eq 1 ]
    [ "$output" = "shoal: cannot write the report to '/dev/full': No space left on device" ]
}

@test "names from a foreign results file cannot drive the terminal" {
    results "$(series evil insight 2 2048 false "$(method 'a\u001b[31mb\nc' right '' 1000)")"
    run "$SHOAL" report --db "$db"
    [ "$status" -eq 0 ]
    [[ $output == *'a?[31mb?c'* ]]
    [[ $output != *$'\e'* ]]
}

@test "long names are cut to fit" {
    long=$(printf '%0100d' 7)
    results "$(series "$long" "$long" 2 2048 false "$(method "$long" right '' 1000)" \
        "$(method "${long}b" wrong "$long")" | sed "s/Toy CPU 1MHz/$long/g; s/ext4/$long/; s/xfs/$long/")"
    for how in '' --list --json; do
        run "$SHOAL" report --db "$db" $how
        [ "$status" -eq 0 ]
        [ -n "$how" ] || fits_80_columns
        [ "$how" != --list ] || [[ ${lines[1]} == "$long "* ]] # IDs are to be copied
    done
    results "$(series 20260101T000000Z-00beef "$long" 2 2048 false "$(method "$long" right '' 1000)")"
    run "$SHOAL" report --db "$db" --list
    fits_80_columns
    [[ ${lines[1]} == "20260101T000000Z-00beef "* ]]
}

@test "no results, no such series, a damaged file: one line, exit 1" {
    run "$SHOAL" report --db "$db"
    [ "$status" -eq 1 ]
    [ "$output" = "shoal: cannot report from '$db': no results are there; 'shoal bench' makes some, \
'shoal report --reference' prints the published ones" ]

    run "$SHOAL" report
    [ "$status" -eq 1 ]
    [[ $output == *"'$HOME/.local/share/shoal/results.db'"* ]]

    results "$(warm)"
    run "$SHOAL" report --db "$db" --series nosuch
    [ "$status" -eq 1 ]
    [ "$output" = "shoal: cannot find series 'nosuch' in '$db'; 'shoal report --list' lists them" ]

    echo '{"schema": "other"}' >"$json"
    run "$SHOAL" report --db "$json"
    [ "$status" -eq 1 ]
    [ "$output" = "shoal: cannot read results from '$json': this is JSON text, not a database: it can be \
imported into one" ]
    [ "$(cat "$json")" = '{"schema": "other"}' ]
}

@test "--import adds the series that are not there yet, and --export gives them back" {
    document "$(warm)" "$(cold)" "$(warm)"
    run "$SHOAL" report --db "$db" --import "$json"
    [ "$status" -eq 0 ]
    [ "$output" = "2 series added, 1 skipped (already there)" ]
    document "$(large)" "$(cold)"
    run "$SHOAL" report --db "$db" --import - <"$json"
    [ "$status" -eq 0 ]
    [ "$output" = "1 series added, 1 skipped (already there)" ]
    "$SHOAL" report --db "$db" --export | python3 -c '
import json, sys
data = json.load(sys.stdin)
assert (data["schema"], data["version"]) == ("shoal-results", 4)
assert [s["id"] for s in data["series"]] == ["warm", "cold", "large"]
given = json.load(open(sys.argv[1]))["series"][0]
def holds(whole, part): # all that was given, and what version 1 had not yet
    if isinstance(part, dict):
        return all(k in whole and holds(whole[k], v) for k, v in part.items())
    if isinstance(part, list):
        return len(whole) == len(part) and all(map(holds, whole, part))
    return whole == part
assert holds(data["series"][2], given)' "$json"
}

@test "what was exported and imported is the same again" {
    results "$(warm)" "$(cold)" "$(large)"
    "$SHOAL" report --db "$db" --export "$BATS_TEST_TMPDIR/one.json"
    run "$SHOAL" report --db "$BATS_TEST_TMPDIR/other.db" --import "$BATS_TEST_TMPDIR/one.json"
    [ "$output" = "3 series added, 0 skipped (already there)" ]
    "$SHOAL" report --db "$BATS_TEST_TMPDIR/other.db" --export=- 2>&1 | grep -q "doesn't allow an argument"
    "$SHOAL" report --db "$BATS_TEST_TMPDIR/other.db" --export - | cmp - "$BATS_TEST_TMPDIR/one.json"
    "$SHOAL" report --db "$db" --export --series cold | grep '"id"' | cmp - <(echo '   "id": "cold",')
}

@test "--import and --export refuse what is of another form, and leave it" {
    results "$(warm)"
    echo '{"schema": "other"}' >"$json"
    run "$SHOAL" report --db "$db" --import "$json"
    [ "$status" -eq 1 ]
    [ "$output" = "shoal: cannot import '$json': schema: 'shoal-results' is expected: this is no results file" ]
    run "$SHOAL" report --db "$db" --import "$db"
    [ "$status" -eq 1 ]
    [ "$output" = "shoal: cannot import '$db': this is a database, not JSON text" ]
    run "$SHOAL" report --db "$db" --import nowhere
    [ "$status" -eq 1 ]
    [ "$output" = "shoal: cannot import 'nowhere': No such file or directory" ]
    before=$(sha256sum <"$db")
    run "$SHOAL" report --db "$db" --export "$db"
    [ "$status" -eq 1 ]
    [ "$output" = "shoal: cannot export to '$db': a database stands there" ]
    [ "$before" = "$(sha256sum <"$db")" ]
    document "$(large)"
    run "$SHOAL" report --db "$json" --import "$json"
    [ "$status" -eq 1 ]
    [ "$output" = "shoal: cannot import into '$json': this is JSON text, not a database: it can be \
imported into one" ]
}

@test "a database that may only be read is read" {
    [ "$EUID" -eq 0 ] || skip "needs root to become somebody else"
    nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"; }
    results "$(warm)"
    chmod 444 "$db" "$json"
    chmod 755 "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR"
    cp "$SHOAL" "$BATS_TEST_TMPDIR/shoal"
    SHOAL="$BATS_TEST_TMPDIR/shoal"
    nobody test -r "$db" || skip "an unprivileged user cannot come here"
    run nobody "$SHOAL" report --db "$db" --list
    [ "$status" -eq 0 ]
    [[ $output == *"warm "* ]]
    document "$(large)"
    run nobody "$SHOAL" report --db "$db" --import "$json"
    [ "$status" -eq 1 ]
    [ "$output" = "shoal: cannot import into '$db': Permission denied" ]
    run nobody "$SHOAL" report --db "$BATS_TEST_TMPDIR/new.db" --import "$json"
    [ "$status" -eq 1 ]
    [ "$output" = "shoal: cannot import into '$BATS_TEST_TMPDIR/new.db': Permission denied" ]
}

@test "the results of an older program are pointed at until there is a database" {
    document "$(warm)"
    mkdir -p "$HOME/.local/share/shoal"
    old="$HOME/.local/share/shoal/results.json"
    cp "$json" "$old"
    run "$SHOAL" report
    [ "$status" -eq 1 ]
    [ "$output" = "shoal: cannot report from '$HOME/.local/share/shoal/results.db': no results are there; \
'shoal report --import FILE' takes over those of an older program in '$old'" ]
    "$SHOAL" report --import "$old"
    run --separate-stderr "$SHOAL" report
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
}

@test "wrong usage exits 2" {
    for wrong in --bogus argument --db '--reference --list' '--last --all' '--series x --last' \
        '--import' '--import x --last' \
        '--import x --list' '--import x --import y' '--export x y' '--export --json' \
        '--reference --last' '--replayed --list' '--reference --db x' '--beside-reference --baseline x' \
        '--format=nosuch' '--format=csv --json' '--format=csv --format=html' --output; do
        run "$SHOAL" report $wrong
        echo "$wrong: $status: $output"
        [ "$status" -eq 2 ]
        [[ $output == "shoal report: "* ]]
    done
}

@test "--help answers on stdout; what does not arrive is told" {
    run "$SHOAL" report --help
    [ "$status" -eq 0 ]
    [[ $output == "Usage: shoal report [OPTION...]"* ]]
    fits_80_columns
    [ -w /dev/full ] || skip "no /dev/full"
    for how in --help --reference '--reference --json'; do
        run bash -c '"$SHOAL" report '"$how"' >/dev/full'
        [ "$status" -eq 1 ]
        [ "$output" = "shoal: cannot write to standard output: No space left on device" ]
    done
}

@test "what was copied off drives is told in the published form, in the drive's own time" {
    results "$(series slow insight 2200 $insight_bytes true "$(method tar right '' 12715 12715)")" \
        "$(series fast insight 2200 $insight_bytes true "$(method tar right '' 3900)")"
    "$SHOAL" report --db "$db" --export | python3 -c '
import json, sys
data = json.load(sys.stdin)
for s in data["series"]:
    s["drive"] = {"slow": "2X", "fast": "32X"}[s["id"]]
    s["time_scale"] = 20.0
json.dump(data, open(sys.argv[1], "w"))' "$json"
    rm "$db"
    "$SHOAL" report --db "$db" --import "$json"
    run "$SHOAL" report --db "$db"
    [ "$status" -eq 0 ]
    echo "$output"
    [[ $output == *"
Results for Toy CPU 1MHz, insight, tar:

CDROM     Time     Data
Speed    (m:ss)    Rate

  2X      4:14     300
 32X      1:18     978
"* ]]
    [[ $output == *"2X CDROM Performance"*"32X CDROM Performance"* ]]
    grep -q "Series slow, 2X CDROM: 2 runs" <<<"$output"
    [[ $output == *"which ran 20"* ]]
    run "$SHOAL" report --db "$db" --format csv
    [ "$(head -n 1 <<<"$output" | cut -d, -f 11-13 | tr -d '\r')" = cache,drive,time_scale ]
    [ "$(grep ^fast <<<"$output" | cut -d, -f 11-13)" = cold,32X,20 ]
    run "$SHOAL" report --db "$db" --format json
    [ "$(python3 -c 'import json, sys
print([(s["drive"], s["time_scale"], s["methods"][0]["figures"]["real_ns"]) for s in json.load(sys.stdin)["series"]])' <<<"$output")" = \
        "[('2X', 20.0, 254300000000), ('32X', 20.0, 78000000000)]" ]
}

@test "--list and --beside-reference as JSON have what CSV has" {
    results "$(warm)" "$(cold)"
    for content in --list --beside-reference; do
        "$SHOAL" report --db "$db" --all $content --json >"$BATS_TEST_TMPDIR/json"
        "$SHOAL" report --db "$db" --all $content --format=csv >"$BATS_TEST_TMPDIR/csv"
        run python3 -c '
import csv, json, sys
tables = json.load(open(sys.argv[1]))
assert (tables["schema"], tables["version"]) == ("shoal-tables", 1)
rows = [row for table in tables["tables"] for row in table["rows"]]
lines = list(csv.DictReader(open(sys.argv[2])))
assert len(rows) == len(lines) > 0
for row, line in zip(rows, lines):
    for key, value in row.items():
        assert value is None and line[key] == "" or type(value) is str and value == line[key].lstrip("\x27") \
            or value == float(line[key]), (key, value, line[key])' "$BATS_TEST_TMPDIR/json" "$BATS_TEST_TMPDIR/csv"
        echo "$output"
        [ "$status" -eq 0 ]
    done
}

@test "--replayed shows replays beside the figures that were published" {
    results "$(series slow insight 2200 $insight_bytes true "$(method replay right '' 16390)")" \
        "$(series fast insight 2200 $insight_bytes true "$(method replay right '' 10250)")" \
        "$(series wrong insight 2200 $insight_bytes true "$(method replay wrong 'not the same' 10250)")" \
        "$(series other insight 2200 $insight_bytes true "$(method replay right '' 999)")"
    run "$SHOAL" report --db "$db" --replayed
    [ "$status" -eq 1 ]
    [[ $output == "shoal: cannot report replays from '$db': none of this choice replayed a published machine; "* ]]
    "$SHOAL" report --db "$db" --export | python3 -c '
import json, sys
data = json.load(sys.stdin)
cells = {"slow": ("Indy R4600PC 100MHz", "2X"), "fast": ("Indy R4600PC 100MHz", "32X"),
         "wrong": ("Origin200 R10000SC 180MHz", "32X"), "other": ("Octane R12000 300MHz", "32X")}
for s in data["series"]:
    machine, s["drive"] = cells[s["id"]]
    s["system"].update(machine=machine, name=machine + ", emulated")
    s["time_scale"] = 20.0
json.dump(data, open(sys.argv[1], "w"))' "$json"
    rm "$db"
    "$SHOAL" report --db "$db" --import "$json"
    run "$SHOAL" report --db "$db" --replayed
    [ "$status" -eq 0 ]
    fits_80_columns
    cat >"$BATS_TEST_TMPDIR/expected" <<'END'
Table 31: Results for Indy 100MHz R4600PC:

CDROM  Published  Replayed         Published  Replayed
Speed     (m:ss)    (m:ss)  Error       Rate      Rate

2X          5:27      5:28  +0.2%        233       233
32X         3:26      3:25  -0.5%        370       372

Table 32: 2X CDROM Performance:
Copying many small files to disk.

                        Published  Replayed         Published  Replayed
Machine                    (m:ss)    (m:ss)  Error       Rate      Rate

O2 R5000SC 200MHz 1MB        4:46                         267
Indigo2 250MHz R4400SC       4:50                         263
Indy 200MHz R4400SC          5:02                         253
Indy 133MHz R4600PC          5:22                         237
Indy 100MHz R4600PC          5:27      5:28  +0.2%        233       233

Table 33: 32X CDROM Performance:
Copying many small files to disk.

                        Published  Replayed         Published  Replayed
Machine                    (m:ss)    (m:ss)  Error       Rate      Rate

O2 R5000SC 200MHz 1MB        1:48                         706
Indigo2 250MHz R4400SC       1:48                         706
Indy 200MHz R4400SC          2:03                         620
Indy 133MHz R4600PC          3:24                         374
Indy 100MHz R4600PC          3:26      3:25  -0.5%        370       372

END
    diff -u "$BATS_TEST_TMPDIR/expected" <("$SHOAL" report --db "$db" --replayed)
    # A replay is no measurement of that machine: it is in no table with those that were measured.
    run "$SHOAL" report --db "$db" --beside-reference
    [ "$status" -eq 1 ]
    run "$SHOAL" report --db "$db"
    [[ $output == *"Results for Indy R4600PC 100MHz, emulated, insight, replay:"* ]]
    "$SHOAL" report --db "$db" --replayed --format=html >"$BATS_TEST_TMPDIR/page.html"
    grep -q '<span class="key large">replayed</span>' "$BATS_TEST_TMPDIR/page.html"
    run "$SHOAL" report --db "$db" --replayed --format=csv
    [[ ${lines[2]} == "Results for Indy 100MHz R4600PC,32X,206000000000,205000000000,-0.0048"*,370,372.1* ]]
}
