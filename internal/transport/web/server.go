package web

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

// Server answers HTTP requests. It is safe for concurrent use.
type Server struct {
	options   Options
	page      origin
	hub       Hub
	access    Access
	log       *slog.Logger
	now       func() time.Time
	pages     *page.Assets
	published []byte // the manifest
	served    http.Handler
	flashes   flashes
	wrong     wrong
	tails     tails
	records   records[page.Record]
	told      records[told]
	counts    counts
	verifying sync.Mutex // held while the audit chain is verified
	reading   reading
	rights    lookout

	life context.Context //nolint:containedctx // it is the life of all streams, not of a call
	end  context.CancelFunc

	mu      sync.Mutex
	streams map[string]int // by principal
	closed  bool
	open    sync.WaitGroup
}

// New creates a server. It starts nothing; Close ends the streams that requests opened.
func New(o Options) (*Server, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	pages, err := page.Load()
	if err != nil {
		return nil, err
	}
	published, err := Describe(o.Manifest, o.Decides)
	if err != nil {
		return nil, err
	}
	s := &Server{
		options: o, page: originOf(o.PageURL), hub: o.Hub, access: o.Access, log: o.Logger, now: o.Now, pages: pages, published: published, streams: map[string]int{},
		reading: make(reading, mostReading),
		records: records[page.Record]{most: mostRecords, mostBytes: mostRecordBytes},
		told:    records[told]{most: mostTold, mostBytes: mostToldBytes},
		rights:  lookout{access: o.Access},
	}
	s.life, s.end = context.WithCancel(context.Background())
	ofPage, err := s.routes(s.pageRoutes)
	if err != nil {
		return nil, err
	}
	loopback, err := s.routes(s.elsewhereRoutes)
	if err != nil {
		return nil, err
	}
	s.served = bounded(s.guard(ofPage, loopback))
	return s, nil
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.served.ServeHTTP(w, r) }

// Close ends all streams and waits for them; later ones are refused. Subscriptions remain: they belong to the hub. It
// may be called more than once.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end()
	s.open.Wait()
}

// routes returns a handler for the table's routes, together with those of the page or its replacement.
func (s *Server) routes(others func(mux *http.ServeMux)) (http.Handler, error) {
	mux := http.NewServeMux()
	if err := s.serveRoutes(mux, s.endpoints()); err != nil {
		return nil, err
	}
	s.mcpRoutes(mux)
	s.grpcRoutes(mux)
	others(mux)
	mux.HandleFunc("/", s.elsewhere(mux, "the API is below "+api.Root))
	return mux, nil
}

// busyTime is after how long a refused reader may try again: by then, streams of readers that have gone have ended.
const busyTime = 15 * time.Second

// enter counts a stream, or returns why it is refused; the caller calls leave when it has ended. The context ends with
// the request's, and when the server is closed.
func (s *Server) enter(ctx context.Context, who Principal) (_ context.Context, leave func(), _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil, &Refusal{Kind: api.KindUnavailable, Message: "the server is closing", Hint: "try again soon", After: 2 * time.Second}
	}
	key := who.Name + " " + who.Credential // counted per credential: no credential can exhaust another's streams
	if s.streams[key] >= s.options.Streams {
		return nil, nil, &Refusal{Kind: api.KindBusy, Message: "too many streams are open for " + who.Name, Hint: "close one first", After: busyTime}
	}
	s.streams[key]++
	s.open.Add(1)
	s.counts.streams.Add(1)
	ctx, cancel := context.WithCancel(ctx)
	off := context.AfterFunc(s.life, cancel)
	return ctx, func() {
		off()
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.streams[key]--; s.streams[key] == 0 {
			delete(s.streams, key)
		}
		s.counts.streams.Add(-1)
		s.open.Done()
	}, nil
}
