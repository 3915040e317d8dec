package subscriber

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/aaep/conform"
	"github.com/earshot-dev/earshot/aaep/conform/report"
	"github.com/earshot-dev/earshot/aaep/transport/grpc"
	"github.com/earshot-dev/earshot/internal/cause"
)

// headerTime is how long the head of a request may take.
const headerTime = 10 * time.Second

// Judge listens, plays the script to the subscriber that connects, and reports. Everything that it starts has ended when
// it returns. If ctx ends, the report is of what came until then. The error is a [*report.Error]: wrong options, an
// address where it cannot listen, or nobody who has connected.
func Judge(ctx context.Context, o Options) (report.Report, error) {
	o, err := o.checked()
	if err != nil {
		return report.Report{}, err
	}
	rules, err := conform.Catalogue()
	if err != nil {
		return report.Report{}, &report.Error{Message: "the catalogue of rules could not be read", Err: err}
	}
	listener := o.Listener
	if listener == nil {
		if listener, err = new(net.ListenConfig).Listen(ctx, "tcp", o.Address); err != nil {
			return report.Report{}, &report.Error{Message: fmt.Sprintf("it cannot listen at %s: %s", o.Address, cause.Of(err)), Hint: "name another address with a free port", Err: err}
		}
	}
	unix := o.SocketListener
	if unix == nil && o.Socket != "" {
		if unix, err = new(net.ListenConfig).Listen(ctx, "unix", o.Socket); err != nil {
			_ = listener.Close()
			return report.Report{}, &report.Error{
				Message: fmt.Sprintf("it cannot listen at %s: %s", o.Socket, cause.Of(err)), Err: err, Hint: "name a path in a folder of yours at which there is nothing",
			}
		}
	}
	url := "http://" + listener.Addr().String()
	j := &judge{o: o, exam: newExam(o, rules, o.Now()), inputs: make(chan input), lines: map[int]chan effect{}}
	j.serve(ctx, listener, unix, func(ctx context.Context) {
		o.Ready(url)
		j.run(ctx)
	})
	if j.exam.due.IsZero() {
		return report.Report{}, &report.Error{Message: "no subscriber has listened at " + url, Hint: "connect it to this address, over server-sent events, a WebSocket or gRPC"}
	}
	return j.exam.report(url, o.Now()), nil
}

// judge is one run of an exam: the shell around it.
type judge struct {
	o      Options
	exam   *exam
	inputs chan input
	tasks  sync.WaitGroup

	over <-chan struct{} // closed when run has ended

	mu    sync.Mutex
	ended bool // no more requests are taken
	count int
	lines map[int]chan effect // by connection
}

// serve serves HTTP and gRPC, and the Unix socket if there is one, while do runs.
func (j *judge) serve(ctx context.Context, listener, unix net.Listener, do func(context.Context)) {
	ctx, cancel := context.WithCancel(ctx)
	server := &http.Server{Handler: j.handler(), ReadHeaderTimeout: headerTime, BaseContext: func(net.Listener) context.Context { return ctx }}
	grpc.Configure(server)
	j.over = ctx.Done()
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) }) // until it is closed
	if unix != nil {
		serving.Go(func() { j.accept(ctx, unix) })
	}
	do(ctx)
	cancel()
	_ = server.Close()
	if unix != nil {
		_ = unix.Close()
	}
	serving.Wait()
	j.mu.Lock()
	j.ended = true
	j.mu.Unlock()
	j.tasks.Wait()
}

// run passes inputs and time to the exam until that is over.
func (j *judge) run(ctx context.Context) {
	for now := j.o.Now(); !j.exam.over(now) && ctx.Err() == nil; now = j.o.Now() {
		timer := time.NewTimer(j.exam.next().Sub(now))
		select {
		case <-ctx.Done():
		case <-timer.C:
			j.do(j.exam.tick(j.o.Now()))
		case in := <-j.inputs:
			j.do(j.exam.step(in, j.o.Now()))
		}
		timer.Stop()
	}
}

// backlog is how many messages may wait for a connection; one that takes them more slowly is dropped.
const backlog = 1 << 12

// do passes effects to the connections.
func (j *judge) do(effects []effect) {
	for _, e := range effects {
		if e.kind == doStop {
			j.o.Stop()
			continue
		}
		j.mu.Lock()
		if line := j.lines[e.conn]; line != nil {
			select {
			case line <- e:
			default:
				delete(j.lines, e.conn)
				close(line)
			}
		}
		j.mu.Unlock()
	}
}

// enter reports whether a request is taken. The caller then calls tasks.Done.
func (j *judge) enter() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.ended {
		j.tasks.Add(1)
	}
	return !j.ended
}

// open begins a connection. The caller calls shut.
func (j *judge) open() (conn int, effects <-chan effect, shut func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.count++
	conn = j.count
	line := make(chan effect, backlog)
	j.lines[conn] = line
	return conn, line, func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		delete(j.lines, conn)
	}
}

// tell passes an input to the goroutine of run, while that runs.
func (j *judge) tell(in input) {
	select {
	case j.inputs <- in:
	case <-j.over:
	}
}
