package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/earshot-dev/earshot/internal/kernel/store/postgres"
)

// script is what pgbench runs for one call: the statements that the kernel was seen to send
// to the server between the request of one call and that of the next, with one
// worker. What has to be different each time is put into pgbench's words: the ids of the turn
// are those of a turn of the client's own, other ids are made of a number that counts up, and
// the turn's version and the numbers of its events go on from where they were.
type script struct {
	text  string
	model []string // statements that make a client's turn, with %[1]s for its id
}

// record runs a few calls and makes the script of one of them.
func (f *field) record(ctx context.Context) (*script, error) {
	dsn, err := f.server.Ledger(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dropSchema(context.WithoutCancel(ctx), dsn) }()
	log := &tracer{}
	s, err := postgres.Open(ctx, postgres.Options{DSN: dsn, Tracer: log})
	if err != nil {
		return nil, err
	}
	_, err = ours(ctx, load{Workers: 1, Warm: time.Second, For: 2 * time.Second}, s, "")
	if err = errors.Join(err, s.Close()); err != nil {
		return nil, err
	}
	one, err := oneCall(log.all)
	if err != nil {
		return nil, err
	}
	return one.script()
}

// call is what was seen of one call.
type call struct {
	statements []seen
}

var (
	idPattern   = regexp.MustCompile(`[0-9a-f]{32}`)
	onlyID      = regexp.MustCompile(`^([a-z]+_)?([0-9a-f]{32})([a-z0-9_]*)$`)
	place       = regexp.MustCompile(`\$\d+`)
	versionIs   = regexp.MustCompile(`version = (\$\d+)`)
	lastIs      = regexp.MustCompile(`AND seq = (\$\d+)`)
	newEvents   = regexp.MustCompile(`seq = seq \+ (\$\d+)`)
	steps       = "UPDATE turns SET"
	eventInsert = "INSERT INTO events"
)

// oneCall finds the statements of a call in the middle: from the transaction that keeps one
// call's card to the one that keeps the next's.
func oneCall(all []seen) (call, error) {
	var starts []int
	groups := transactions(all)
	for i, group := range groups {
		if slices.ContainsFunc(group, func(s seen) bool {
			return strings.HasPrefix(s.query, "INSERT INTO cards") && slices.Contains(s.params, "tool.call")
		}) {
			starts = append(starts, i)
		}
	}
	if len(starts) < 8 {
		return call{}, fmt.Errorf("only %d calls were seen in the log", len(starts))
	}
	m := len(starts) / 2
	return call{slices.Concat(groups[starts[m]:starts[m+1]]...)}, nil
}

// transactions groups statements by the transaction that they are part of, in the order in
// which those ended.
func transactions(all []seen) [][]seen {
	open := map[uint32][]seen{}
	var groups [][]seen
	for _, s := range all {
		word, _, _ := strings.Cut(s.query, " ")
		switch {
		case word == "BEGIN":
			open[s.session] = []seen{s}
		case open[s.session] == nil:
			groups = append(groups, []seen{s})
		case word == "COMMIT" || word == "ROLLBACK":
			groups = append(groups, append(open[s.session], s))
			delete(open, s.session)
		default:
			open[s.session] = append(open[s.session], s)
		}
	}
	return groups
}

// turnOf is the id that occurs most as a turn's.
func (c call) turnOf() string {
	for _, s := range c.statements {
		for _, p := range s.params {
			if h, is := strings.CutPrefix(p, "turn_"); is && idPattern.MatchString(h) {
				return h
			}
		}
	}
	return ""
}

// eventColumns is how many parameters the row of an event has.
const eventColumns = 8

// script puts the statements into pgbench's words.
func (c call) script() (*script, error) {
	turn := c.turnOf()
	if turn == "" {
		return nil, errors.New("no turn was seen in the log")
	}
	ids := map[string]int{}
	version, last, taken, moved := int64(-1), int64(-1), int64(0), int64(0)
	var b strings.Builder
	b.WriteString("\\set n :n + 1\n\\set u :client_id * 1000000000 + :n * 100\n")
	for _, s := range c.statements {
		relative := map[string]string{} // parameter to expression
		if strings.HasPrefix(s.query, steps) {
			for _, r := range []struct {
				pattern *regexp.Regexp
				name    string
				base    *int64
			}{{versionIs, ":v", &version}, {lastIs, ":s", &last}} {
				if m := r.pattern.FindStringSubmatch(s.query); m != nil {
					at := s.number(m[1])
					if *r.base < 0 {
						*r.base = at
					}
					relative[m[1]] = fmt.Sprintf("((%s)::bigint + %d)", r.name, at-*r.base)
				}
			}
			if m := newEvents.FindStringSubmatch(s.query); m != nil {
				taken += s.number(m[1])
			}
			moved++
		}
		if strings.HasPrefix(s.query, eventInsert) && last >= 0 {
			for n := 2; n <= len(s.params); n += eventColumns { // of each row
				p := "$" + strconv.Itoa(n)
				relative[p] = fmt.Sprintf("((:s)::bigint + %d)", s.number(p)-last)
			}
		}
		b.WriteString(s.worded(turn, ids, relative) + ";\n")
	}
	fmt.Fprintf(&b, "\\set v :v + %d\n\\set s :s + %d\n", moved, taken)
	return &script{text: b.String(), model: []string{
		`INSERT INTO turns (turn_id, session_id, project, agent, owner, status, ended, created, version, doc, summary)
			VALUES ('turn_%[1]s', 'sess_%[1]s', 'bench', 'caller', 'starter', 'running', false, 1, 1, '{}', '')`,
		`INSERT INTO turn_inputs (turn_id, request) VALUES ('turn_%[1]s', '')`,
	}}, nil
}

func (s seen) number(parameter string) int64 {
	n, err := strconv.Atoi(parameter[1:])
	if err != nil || n > len(s.params) {
		return 0
	}
	v, _ := strconv.ParseInt(s.params[n-1], 10, 64)
	return v
}

// worded is a statement with its values in it.
func (s seen) worded(turn string, ids map[string]int, relative map[string]string) string {
	out := place.ReplaceAllStringFunc(s.query, func(p string) string {
		if expression, is := relative[p]; is {
			return expression
		}
		n, _ := strconv.Atoi(p[1:])
		if n > len(s.params) {
			return p
		}
		v := s.params[n-1]
		if s.null[n-1] {
			return "NULL"
		}
		if strings.HasPrefix(s.query, "DELETE FROM outbox") && strings.HasSuffix(p, "1") {
			return "currval('outbox_id_seq')"
		}
		return worded(v, turn, ids)
	})
	return strings.Join(strings.Fields(out), " ")
}

// worded is a value: an id in pgbench's words, anything else as it is. A colon would begin a
// variable of pgbench's: it is written otherwise.
func worded(v, turn string, ids map[string]int) string {
	m := onlyID.FindStringSubmatch(v)
	if m == nil {
		return "E'" + strings.NewReplacer(`\`, `\\`, `'`, `''`, ":", `\x3a`, "\n", `\n`).Replace(v) + "'"
	}
	if m[2] == turn {
		return fmt.Sprintf("('%s' || lpad((:client_id)::text, 32, '0') || '%s')", m[1], m[3])
	}
	k, known := ids[m[2]]
	if !known {
		k = len(ids)
		ids[m[2]] = k
	}
	return fmt.Sprintf("('%s' || lpad(((:u)::bigint + %d)::text, 32, '0') || '%s')", m[1], k, m[3])
}

// onBare runs the script, a client for each worker.
func (f *field) onBare(ctx context.Context, l load) (r round, err error) {
	dsn, err := f.server.Ledger(ctx)
	if err != nil {
		return r, err
	}
	defer func() { _ = dropSchema(context.WithoutCancel(ctx), dsn) }()
	s, err := postgres.Open(ctx, postgres.Options{DSN: dsn}) // it makes the tables
	if err != nil {
		return r, err
	}
	if err := s.Close(); err != nil {
		return r, err
	}
	if err := f.bare.prepare(ctx, dsn, l.Workers); err != nil {
		return r, err
	}
	path := filepath.Join(f.dir, "call.sql")
	if err := os.WriteFile(path, []byte(f.bare.text), 0o600); err != nil {
		return r, err
	}
	before, err := server(ctx, dsn)
	if err != nil {
		return r, err
	}
	spentBefore := spent(f.postmaster)
	rate, calls, took, err := bench(ctx, dsn, path, l)
	if err != nil {
		return r, err
	}
	work := spent(f.postmaster).minus(spentBefore)
	after, err := server(ctx, dsn)
	return round{
		Calls: calls, All: calls, Rate: rate, P50: took, Counted: after.minus(before).over(calls),
		Server: work.server / time.Duration(max(calls, 1)),
	}, err
}

// prepare makes a turn for each client.
func (s *script) prepare(ctx context.Context, dsn string, clients int) error {
	pg, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer pg.Close(ctx) //nolint:errcheck // what counts was said by Exec
	for n := range clients {
		for _, st := range s.model {
			if _, err := pg.Exec(ctx, fmt.Sprintf(st, fmt.Sprintf("%032d", n))); err != nil {
				return err
			}
		}
	}
	return nil
}

// bench runs pgbench and reads its rate, the number of calls and their mean time.
func bench(ctx context.Context, dsn, path string, l load) (rate float64, calls int, took time.Duration, err error) {
	at, err := url.Parse(dsn)
	if err != nil {
		return 0, 0, 0, err
	}
	password, _ := at.User.Password()
	cmd := exec.CommandContext(ctx, "pgbench", "-n", "-M", "prepared", "-f", path, "-c", strconv.Itoa(l.Workers), "-j", "2",
		"-T", strconv.Itoa(max(1, int((l.Warm+l.For)/time.Second))), "-D", "n=0", "-D", "v=1", "-D", "s=0",
		"-h", at.Query().Get("host"), "-p", at.Query().Get("port"), "-U", at.User.Username(), "postgres")
	cmd.Env = append(os.Environ(), "PGPASSWORD="+password, "PGOPTIONS=-c search_path="+at.Query().Get("search_path"))
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return 0, 0, 0, fmt.Errorf("pgbench: %w: %.1000s", err, said.String())
	}
	lines := bufio.NewScanner(&said)
	for lines.Scan() {
		line := lines.Text()
		if v, is := strings.CutPrefix(line, "tps = "); is {
			v, _, _ = strings.Cut(v, " ")
			rate, err = strconv.ParseFloat(v, 64)
		}
		if v, is := strings.CutPrefix(line, "number of transactions actually processed: "); is {
			calls, err = strconv.Atoi(v)
		}
		if v, is := strings.CutPrefix(line, "latency average = "); is {
			took, err = time.ParseDuration(strings.ReplaceAll(v, " ", ""))
		}
		if err != nil {
			return 0, 0, 0, fmt.Errorf("pgbench: %q: %w", line, err)
		}
	}
	return rate, calls, took, nil
}
