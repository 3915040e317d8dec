package server

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/address"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/projectfile"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// projects are the projects of a process besides the server's own. Each is a server with a ledger, tokens, a bus and a page of its own; they
// share the listeners, where the name of the host tells them apart, and the message server.
type projects struct {
	main        *Server
	options     Options // of the main one
	certificate *address.Certificate

	life context.Context //nolint:containedctx // ends with the server, and with it what is being opened
	stop context.CancelFunc

	changing sync.Mutex // held while some are opened or ended
	closed   bool       // needs changing

	mu   sync.RWMutex
	open map[string]*project

	owned sync.WaitGroup // the goroutines that watch them, and that wait for their last requests
}

// project is one of them.
type project struct {
	projectfile.Project

	server   *Server // nil while it is not served
	trouble  error   // why it is not
	requests sync.WaitGroup
	ended    chan struct{}
}

func newProjects(main *Server, o Options, certificate *address.Certificate) *projects {
	life, stop := context.WithCancel(context.Background())
	return &projects{main: main, options: o, certificate: certificate, life: life, stop: stop, open: map[string]*project{}}
}

const (
	// sideBySide is how many projects are opened at once.
	sideBySide = 4
	// openingGrace is how long the start of the server waits for them; then it serves those that are open.
	openingGrace = 10 * time.Second
)

// errOpening is why a project is not served at first.
var errOpening = &cause.Error{Message: "it is still being opened", Hint: "wait a moment; what takes long is mostly a database that does not answer"}

// start opens the projects, and leaves those that take long to be opened while the others are served.
func (p *projects) start(ctx context.Context) error {
	opened := make(chan error, 1)
	p.owned.Go(func() {
		_, err := p.reread()
		opened <- err
	})
	grace := time.NewTimer(openingGrace)
	defer grace.Stop()
	select {
	case err := <-opened:
		return err
	case <-grace.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hostName is the name under which the programs of a project come; "" for those of the process, which come under every name of the machine.
func (s *Server) hostName() string {
	if s.within == nil {
		return ""
	}
	return hostOf(s.instance.Project)
}

func hostOf(project string) string { return project + ".localhost" }

// ServeHTTP hands a request to the project that its host names, and to the server's own otherwise. That one refuses names that are not its own.
func (p *projects) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	one := p.enter(r.Host)
	if one == nil {
		p.main.web.ServeHTTP(w, r)
		return
	}
	defer one.requests.Done()
	if one.server != nil {
		one.server.web.ServeHTTP(w, r)
		return
	}
	refusal := &web.Refusal{
		Kind: api.KindUnavailable, Message: "this project is not served at the moment",
		Hint: "the operator of the server sees why with `earshot projects add` and its name, which tries again",
	}
	refusal.ServeHTTP(w, r)
}

// enter returns the project that a host names, and counts a request of it; nil if it names none.
func (p *projects) enter(host string) *project {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for name, one := range p.open {
		if one.server != nil && one.server.web.Answers(host) || one.server == nil && (&url.URL{Host: host}).Hostname() == hostOf(name) {
			one.requests.Add(1)
			return one
		}
	}
	return nil
}

// reread serves the projects that were added since, and those that could not be served before, and ends those that were removed.
func (p *projects) reread() (api.Projects, error) {
	p.changing.Lock()
	defer p.changing.Unlock()
	if p.closed || p.options.OpenProject == nil {
		return api.Projects{}, nil
	}
	list, err := projectfile.List(p.main.instance.Data.Path)
	if err != nil {
		return api.Projects{}, err
	}
	listed := map[string]bool{}
	for _, one := range list {
		listed[one.Name] = true
	}
	for name, one := range p.all() {
		if !listed[name] {
			p.end(one)
			p.options.Notice("Project " + name + ": it was removed, and is not served any more.")
		}
	}
	p.serveAll(list)
	return p.states(), nil
}

// states says how each project is.
func (p *projects) states() api.Projects {
	all := p.all()
	answer := api.Projects{Projects: make([]api.ServedProject, 0, len(all))}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		answer.Projects = append(answer.Projects, all[name].told())
	}
	return answer
}

// answer is reread for operators, or states.
func (p *projects) answer(_ context.Context, again bool) (api.Projects, error) {
	if !again {
		return p.states(), nil
	}
	answer, err := p.reread()
	return answer, refused(err)
}

// serveAll opens the projects that are not open, several at once. It needs changing.
func (p *projects) serveAll(list []projectfile.Project) {
	var opening sync.WaitGroup
	places := make(chan struct{}, sideBySide)
	pages := map[string]bool{p.main.page: true}
	for _, one := range p.all() {
		if one.server != nil {
			pages[one.server.page] = true
		}
	}
	for _, one := range list {
		before := p.all()[one.Name]
		if before != nil && before.server != nil {
			continue
		}
		if before == nil {
			p.put(&project{Project: one, trouble: errOpening, ended: make(chan struct{})})
		}
		o, err := p.optionsOf(one, pages) // in the order of their names: the first has the page that two want
		opening.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			p.serve(one, before, o, err)
		})
	}
	opening.Wait()
}

func (p *projects) all() map[string]*project {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return maps.Clone(p.open)
}

// told says how a project is, for operators.
func (p *project) told() api.ServedProject {
	told := api.ServedProject{Name: p.Name}
	if p.server != nil {
		told.URL = p.server.url
		return told
	}
	told.Trouble = cause.Of(p.trouble)
	if failure, is := p.trouble.(*cause.Error); is { //nolint:errorlint // a hint of a cause within is not about this
		told.Trouble, told.Hint = failure.Message, failure.Hint
	}
	return told
}

// serve opens a project with its options, unless it has none. It needs changing.
func (p *projects) serve(listed projectfile.Project, before *project, o Options, err error) {
	one := &project{Project: listed, trouble: err, ended: make(chan struct{})}
	if err == nil {
		one.server, one.trouble = open(p.life, o, p.main)
	}
	p.put(one)
	if one.server == nil {
		if before == nil || cause.Of(before.trouble) != cause.Of(one.trouble) {
			p.options.Notice("Project " + listed.Name + " is not served: " + cause.OneLine(cause.Of(one.trouble)) + ".")
		}
		return
	}
	p.owned.Go(func() {
		select {
		case err := <-one.server.instance.Broken():
			p.fail(one, err)
		case <-one.ended:
		}
	})
}

func (p *projects) put(one *project) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[one.Name] = one
}

// optionsOf returns the options of a project's server. Pages are those that projects have by now.
func (p *projects) optionsOf(listed projectfile.Project, pages map[string]bool) (Options, error) {
	if listed.Trouble != nil {
		return Options{}, listed.Trouble
	}
	o, err := p.options.OpenProject(listed.Name, listed.Path, listed.Config)
	if err != nil {
		return o, err
	}
	main := p.options
	o.Data, o.OpenProject = listed.Path, nil
	o.HTTP, o.HTTPS, o.TLSCert, o.TLSKey, o.TLSClientCA, o.NATSListen = main.HTTP, "", "", "", "", main.NATSListen
	o.Version, o.LookupEnv, o.Now, o.Logger = main.Version, main.LookupEnv, main.Now, main.Logger.With("project", listed.Name)
	o.Notice = func(line string) { main.Notice("Project " + listed.Name + ": " + line) }
	if o.Console = main.Console; o.Console != nil {
		o.Console = func(line string) { main.Console("Project " + listed.Name + ": " + line) }
	}
	return o, p.covers(o.PageURL, pages)
}

// covers checks that browsers accept the certificate of the server for a project's page, and that no other project has the page's address.
func (p *projects) covers(page string, pages map[string]bool) error {
	if page == "" {
		return nil
	}
	page, err := address.PageURL(page)
	if err != nil {
		return err
	}
	if pages[page] {
		return cause.Misuse("page-url "+page+" is the page of another project", "give each a host name of its own")
	}
	if p.certificate != nil {
		err = p.certificate.Also(page)
	}
	pages[page] = err == nil
	return err
}

// fail ends a project whose ledger or bus has failed; the others go on.
func (p *projects) fail(one *project, err error) {
	p.changing.Lock()
	defer p.changing.Unlock()
	if p.all()[one.Name] != one {
		return
	}
	p.end(one)
	p.put(&project{Project: one.Project, trouble: err, ended: make(chan struct{})})
	p.options.Notice("Project " + one.Name + " is not served any more: " + cause.OneLine(cause.Of(err)) + ". The others go on.")
}

// end takes a project out, lets its requests end for a moment, and closes it. It needs changing.
func (p *projects) end(one *project) {
	p.mu.Lock()
	delete(p.open, one.Name)
	p.mu.Unlock()
	close(one.ended)
	if one.server == nil {
		return
	}
	one.server.endStreams()
	last := make(chan struct{})
	p.owned.Go(func() {
		one.requests.Wait()
		close(last)
	})
	select {
	case <-last:
	case <-time.After(answerGrace):
	}
	one.server.Close()
}

// endStreams ends the streams of all projects.
func (p *projects) endStreams() {
	for _, one := range p.all() {
		if one.server != nil {
			one.server.endStreams()
		}
	}
}

// close ends all of them and waits for it. No request comes any more.
func (p *projects) close() {
	p.stop()
	p.changing.Lock()
	p.closed = true
	for _, one := range p.all() {
		p.end(one)
	}
	p.changing.Unlock()
	p.owned.Wait()
}
