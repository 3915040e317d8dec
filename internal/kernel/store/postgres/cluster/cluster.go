// Package cluster starts a private PostgreSQL for tests and benchmarks: made afresh, reached by
// a Unix socket and on the loopback with a password that nobody else has, flushing what it
// commits, run by a user that is not root, and ended with the process that started it,
// however that ends.
package cluster

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	admin = "keeper"
	// Role owns what [Cluster.Ledger] makes. It is an ordinary one.
	Role = "earshot"

	database = "postgres"

	startLimit = 2 * time.Minute
	ready      = "database system is ready to accept connections"
)

// Cluster is one server with its data. Make it with [Start].
type Cluster struct {
	dir      string // holds data, the sockets and the log
	bin      string
	password string
	port     int
	owner    *owner

	mu     sync.Mutex
	server *os.Process
	ended  chan struct{} // closed when the server has ended
	made   int
}

// Start makes a cluster in a folder of its own and starts it. The error is [ErrMissing] where
// PostgreSQL is not installed.
func Start(ctx context.Context) (*Cluster, error) {
	bin, err := Find()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	c := &Cluster{dir: dir, bin: bin, password: rand.Text()}
	if err := c.make(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return c, nil
}

func (c *Cluster) make(ctx context.Context) error {
	var err error
	if c.owner, err = ordinary(); err != nil {
		return err
	}
	secret := filepath.Join(c.dir, "secret")
	if err := os.WriteFile(secret, []byte(c.password+"\n"), 0o600); err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	for _, path := range []string{c.dir, secret} {
		if err := c.owner.chown(path); err != nil {
			return err
		}
	}
	if err := c.initialise(ctx, secret); err != nil {
		return err
	}
	if err := c.start(ctx); err != nil {
		return err
	}
	err = c.Do(ctx, "CREATE ROLE "+Role+" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD '"+c.password+"'",
		"GRANT CREATE ON DATABASE "+database+" TO "+Role)
	if err != nil {
		return errors.Join(err, c.Stop())
	}
	return nil
}

// initialise makes the data. The order of texts is not that of their bytes, as in most
// databases that are met, unless this PostgreSQL has no such order to give.
func (c *Cluster) initialise(ctx context.Context, secret string) error {
	initdb := filepath.Join(c.bin, "initdb")
	plain := []string{"-D", c.data(), "-U", admin, "-A", "scram-sha-256", "--pwfile=" + secret, "-E", "UTF8", "--locale=C", "--no-sync"}
	err := c.run(ctx, initdb, slices.Concat(plain, []string{"--locale-provider=icu", "--icu-locale=en"})...)
	if err != nil && ctx.Err() == nil {
		err = c.run(ctx, initdb, plain...)
	}
	return err
}

func (c *Cluster) data() string { return filepath.Join(c.dir, "data") }

// run runs a program of the cluster's as its owner, to its end.
func (c *Cluster) run(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // the programs are PostgreSQL's own
	cmd.Dir, cmd.SysProcAttr = c.dir, c.owner.attributes(false)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cluster: %s: %w: %s", filepath.Base(name), err, out)
	}
	return nil
}

// start starts the server on the data that are there and waits until it answers.
func (c *Cluster) start(ctx context.Context) error {
	const tries = 3 // somebody else may take the port before the server does
	var err error
	for range tries {
		if c.port == 0 {
			if c.port, err = freePort(ctx); err != nil {
				return err
			}
		}
		if err = c.serve(ctx); err == nil {
			return nil
		}
		c.port = 0
	}
	return err
}

func (c *Cluster) serve(ctx context.Context) error {
	cmd := exec.Command(filepath.Join(c.bin, "postgres"), "-D", c.data(), "-p", strconv.Itoa(c.port), //nolint:gosec,noctx // it outlives the context
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="+c.dir, "-c", "unix_socket_permissions=0700",
		"-c", "shared_buffers=64MB", "-c", "max_connections=200", "-c", "deadlock_timeout=100ms")
	cmd.Dir, cmd.SysProcAttr = c.dir, c.owner.attributes(true)
	output, err := cmd.StderrPipe()
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	started, up := make(chan error), make(chan string, 1)
	ended := make(chan struct{})
	go func() { // the signal of a parent's death goes by the thread that started the child
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		listen(output, up)
		_ = cmd.Wait() // how it ended shows in its log
		close(ended)
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	c.mu.Lock()
	c.server, c.ended = cmd.Process, ended
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	select {
	case log := <-up:
		if log == "" {
			return nil
		}
		return fmt.Errorf("cluster: the server has not come up: %s", log)
	case <-ctx.Done():
		return errors.Join(ctx.Err(), c.end())
	}
}

// listen reads the server's log to its end. It sends "" once the server is up, or else all
// that was said.
func listen(log io.Reader, up chan<- string) {
	var all strings.Builder
	lines := bufio.NewScanner(log)
	is := false
	for lines.Scan() {
		if is {
			continue
		}
		all.WriteString(lines.Text() + "\n")
		if is = strings.Contains(lines.Text(), ready); is {
			up <- ""
		}
	}
	if !is {
		up <- all.String() + "(end of its log)"
	}
}

// end ends the server at once, as a crash would, and waits until it has.
func (c *Cluster) end() error {
	c.mu.Lock()
	server, ended := c.server, c.ended
	c.mu.Unlock()
	if server == nil {
		return nil
	}
	if err := server.Signal(syscall.SIGQUIT); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("cluster: %w", err)
	}
	<-ended
	return nil
}

// Stop ends the server and removes its data.
func (c *Cluster) Stop() error {
	return errors.Join(c.end(), os.RemoveAll(c.dir)) // what is thrown away needs no checkpoint
}

// Restart ends the server as a crash would and starts it again on the same data and port.
func (c *Cluster) Restart(ctx context.Context) error { return c.RestartAfter(ctx, func() {}) }

// RestartAfter is Restart, and does something while no server runs.
func (c *Cluster) RestartAfter(ctx context.Context, do func()) error {
	err := c.end()
	do()
	return errors.Join(err, c.start(ctx))
}

// Crashed crashes the server and returns a cluster with a copy of what is then on the disk.
// Both are started, the first one on the port that it had.
func (c *Cluster) Crashed(ctx context.Context) (*Cluster, error) {
	if err := c.end(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	other := &Cluster{dir: dir, bin: c.bin, password: c.password, owner: c.owner, made: c.made}
	err = c.owner.chown(dir)
	if err == nil {
		err = other.run(ctx, "cp", "-a", c.data(), other.data())
	}
	if err == nil {
		err = os.Remove(filepath.Join(other.data(), "postmaster.pid"))
	}
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	if err = errors.Join(err, c.start(ctx)); err == nil {
		err = other.start(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, other.Stop())
	}
	return other, nil
}

// Ledger is a place for a ledger: an empty schema of the one database there is. It returns
// the DSN by which its owner, an ordinary role, reaches it through the socket.
func (c *Cluster) Ledger(ctx context.Context) (string, error) {
	c.mu.Lock()
	c.made++
	name := "ledger" + strconv.Itoa(c.made)
	c.mu.Unlock()
	if err := do(ctx, c.DSN(Role, ""), "CREATE SCHEMA "+name); err != nil {
		return "", err
	}
	return c.DSN(Role, name), nil
}

// Again is the DSN of what another cluster's DSN means, in a copy of that cluster.
func (c *Cluster) Again(dsn string) (string, error) {
	at, err := url.Parse(dsn)
	if err != nil {
		return "", fmt.Errorf("cluster: %w", err)
	}
	return c.DSN(Role, at.Query().Get("search_path")), nil
}

// DSN is where a schema of the database is for a role, through the socket; "" is the default
// one.
func (c *Cluster) DSN(role, schema string) string {
	at := url.URL{Scheme: "postgres", User: url.UserPassword(role, c.password), Path: "/" + database}
	words := url.Values{"host": {c.dir}, "port": {strconv.Itoa(c.port)}}
	if schema != "" {
		words.Set("search_path", schema)
	}
	at.RawQuery = words.Encode()
	return at.String()
}

// Address is where the server listens on the loopback.
func (c *Cluster) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)) }

// Do runs statements as the cluster's administrator, each by itself.
func (c *Cluster) Do(ctx context.Context, statements ...string) error {
	return do(ctx, c.DSN(admin, ""), statements...)
}

func do(ctx context.Context, dsn string, statements ...string) error {
	pg, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	defer pg.Close(context.WithoutCancel(ctx)) //nolint:errcheck // what counts was said by Exec
	for _, s := range statements {
		if _, err := pg.Exec(ctx, s); err != nil {
			return fmt.Errorf("cluster: %w", err)
		}
	}
	return nil
}

// Ports that no usual system hands out by itself: those begin at 32768 on Linux and at 49152
// elsewhere.
const firstPort, ports = 12_000, 20_000

// freePort is one that nobody has. The server is crashed and comes back to it: what the system
// hands out by itself, somebody else could have by then.
func freePort(ctx context.Context) (int, error) {
	var err error
	for range ports {
		port := firstPort + mathrand.IntN(ports) //nolint:gosec // A port is not a secret.
		if err = tryPort(ctx, port); err == nil {
			return port, nil
		}
	}
	return 0, fmt.Errorf("cluster: a free port: %w", err)
}

// tryPort tells why a port cannot be listened at.
func tryPort(ctx context.Context, port int) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err == nil {
		err = l.Close()
	}
	if err != nil {
		return fmt.Errorf("port %d: %w", port, err)
	}
	return nil
}
