package bus

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
)

// DefaultProject is the project whose accounts and users have no prefix: credentials of a server with one project name them so.
const DefaultProject = "default"

// prefixOf begins the names of the users and accounts of a project, which are those of one server. No name of a principal has a colon.
func prefixOf(project string) string {
	if project == DefaultProject {
		return ""
	}
	return project + ":"
}

// The ways in which a login may reach the server.
const (
	inProcess = "IN_PROCESS"
	standard  = "STANDARD"
)

// plan contains every account and user of the bus. It is built before the server starts.
type plan struct {
	project  string
	events   bool // of agents are published
	random   io.Reader
	key      []byte
	existing map[string]Login // generated for this process, by user
	kernel   *server.Account
	accounts []*server.Account
	users    []*server.User

	responder, publisher, streams Login
	first                         Login // of the first request; see Server.answerable
	principals                    map[Principal]Credentials

	discovery map[string]*server.Account // of the tools, by name
}

// rights are what one login may publish and subscribe to; an empty list means nothing.
type rights struct {
	publish, subscribe []string
	ways               []string
}

// newPlan builds the plan of a server. It reuses the logins that an earlier plan has generated.
func newPlan(o Options, existing map[string]Login) (*plan, error) {
	kernel := server.NewAccount(prefixOf(o.Project) + "KERNEL")
	p := &plan{
		project: o.Project, events: o.Events, random: o.Rand, key: o.Key, kernel: kernel,
		accounts: []*server.Account{kernel}, principals: map[Principal]Credentials{},
		existing: map[string]Login{}, discovery: map[string]*server.Account{},
	}
	maps.Copy(p.existing, existing)
	if err := p.addKernel(o); err != nil {
		return nil, err
	}
	known := slices.Clone(o.Known)
	for _, principal := range o.Principals {
		c, err := newCredentials(o.Project, principal, p.login)
		if err != nil {
			return nil, err
		}
		known = append(known, c)
	}
	// Operators last: they import from every tool.
	slices.SortStableFunc(known, func(a, b Credentials) int {
		return cmp.Compare(rankOf(a.Principal), rankOf(b.Principal))
	})
	for _, c := range known {
		if err := p.addPrincipal(c); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// rankOf is where a principal stands in the order in which accounts are added.
func rankOf(p Principal) int {
	if p.Kind == Operator {
		return 1
	}
	return 0
}

func (p *plan) addKernel(o Options) error {
	here := []string{inProcess}
	kernels := here
	if o.Kernels {
		kernels = []string{inProcess, standard}
	}
	for _, l := range []namedLogin{
		{"kernel.responder", &p.responder}, {"kernel.publisher", &p.publisher}, {"kernel.streams", &p.streams}, {"kernel.first", &p.first},
	} {
		var err error
		if *l.login, err = p.login(prefixOf(p.project) + l.user); err != nil {
			return err
		}
	}
	p.addUser(p.kernel, p.responder, false, rights{
		publish:   []string{answerPrefix + ">"},
		subscribe: append(sentPatterns(p.project, "*"), servedPattern(p.project)),
		ways:      kernels,
	})
	p.addUser(p.kernel, p.publisher, false, rights{publish: publishable(p.project, p.events), ways: kernels})
	if o.JetStreamDir != "" {
		p.addUser(p.kernel, p.streams, true, rights{publish: []string{"$JS.API.>"}, ways: here})
	}
	return p.addFirst(here)
}

// addFirst adds the account of the first request, which nobody serves.
func (p *plan) addFirst(ways []string) error {
	const account = "FIRST"
	a, subject := p.addAccount(account), firstSubject(p.project)
	if err := p.importRequests(a, subject, subject); err != nil {
		return planError(account, subject, err)
	}
	p.addUser(a, p.first, true, rights{publish: []string{subject}, ways: ways})
	return nil
}

// addPrincipal adds the accounts of a principal. The kind comes before the name in an account name, so that no name can
// turn one principal's subscribe account into another's request account.
func (p *plan) addPrincipal(c Credentials) error {
	who := c.Principal
	kind := strings.ToUpper(string(who.Kind))
	account, r, err := p.addRequestAccount(kind+"RPC_"+who.Name, who)
	if err != nil {
		return err
	}
	p.addUser(account, c.Request, true, r)
	hears := subjectsOf(p.project, who)
	if who.Kind == Operator && p.events {
		hears = append(hears, eventsOfAgents(p.project)...)
	}
	if err := p.addSubscribeAccount(kind+"_"+who.Name, c.Subscribe, hears); err != nil {
		return err
	}
	if who.Kind == Tool {
		p.addDiscoveryAccount(kind+"SRV_"+who.Name, c.Discovery, who.Name)
	}
	p.principals[who] = c
	return nil
}

// addDiscoveryAccount adds an account that can only answer discovery requests for its service.
func (p *plan) addDiscoveryAccount(account string, l Login, name string) {
	a := p.addAccount(account)
	p.discovery[name] = a
	p.addUser(a, l, false, rights{publish: []string{answerPrefix + ">"}, subscribe: askedOf(name), ways: []string{inProcess, standard}})
}

// allowDiscovery lets an operator's request login send discovery requests to every service.
func (p *plan) allowDiscovery(a *server.Account, account string, r *rights) error {
	for _, name := range slices.Sorted(maps.Keys(p.discovery)) {
		for _, subject := range askedOf(name) {
			// Each replica of a service answers, so there may be several answers.
			err := p.discovery[name].AddServiceExportWithResponse(subject, server.Streamed, []*server.Account{a})
			if err == nil {
				err = a.AddServiceImport(p.discovery[name], subject, subject)
			}
			if err != nil {
				return planError(account, subject, err)
			}
		}
	}
	r.publish = discoverable()
	return nil
}

// addRequestAccount adds an account that may request the operations of who's kind and receives the answers.
func (p *plan) addRequestAccount(account string, who Principal) (*server.Account, rights, error) {
	a := p.addAccount(account)
	r := rights{ways: []string{inProcess, standard}}
	if who.Kind == Operator {
		err := p.allowDiscovery(a, account, &r)
		return a, r, err
	}
	for _, op := range opsByKind()[who.Kind] {
		local, served := askSubject(p.project, op), servedSubject(p.project, who, op)
		if err := p.importRequests(a, local, served); err != nil {
			return nil, rights{}, planError(account, served, err)
		}
		r.publish = append(r.publish, local)
	}
	if who.Kind == External {
		sent := sentPatterns(p.project, who.Name)
		for n, local := range commandsOf(p.project) {
			if err := p.importRequests(a, local, sent[n]); err != nil {
				return nil, rights{}, planError(account, sent[n], err)
			}
			r.publish = append(r.publish, local)
		}
	}
	return a, r, nil
}

// importRequests has what an account publishes as local arrive in KERNEL as served. Nobody else can send there.
func (p *plan) importRequests(a *server.Account, local, served string) error {
	if err := p.kernel.AddServiceExport(served, []*server.Account{a}); err != nil {
		return err //nolint:wrapcheck // the caller names the account
	}
	return a.AddServiceImport(p.kernel, local, served) //nolint:wrapcheck // likewise
}

// addSubscribeAccount adds an account that receives some of the kernel's subjects and can do nothing else.
func (p *plan) addSubscribeAccount(account string, l Login, hears []string) error {
	a := p.addAccount(account)
	for _, subject := range hears {
		// The list of an export is never empty: an empty one would mean everybody.
		if err := p.kernel.AddStreamExport(subject, []*server.Account{a}); err != nil {
			return planError(account, subject, err)
		}
		if err := a.AddStreamImport(p.kernel, subject, ""); err != nil {
			return planError(account, subject, err)
		}
	}
	p.addUser(a, l, false, rights{subscribe: hears, ways: []string{inProcess, standard}})
	return nil
}

func (p *plan) addAccount(name string) *server.Account {
	a := server.NewAccount(prefixOf(p.project) + name)
	p.accounts = append(p.accounts, a)
	return a
}

func (p *plan) addUser(a *server.Account, login Login, inbox bool, r rights) {
	if inbox {
		r.subscribe = append(slices.Clone(r.subscribe), login.Inbox+".>")
	}
	ways := make(map[string]struct{}, len(r.ways))
	for _, way := range r.ways {
		ways[way] = struct{}{}
	}
	p.users = append(p.users, &server.User{
		Username: login.User, Password: login.Password, Account: a, AllowedConnectionTypes: ways,
		Permissions: &server.Permissions{Publish: only(r.publish), Subscribe: only(r.subscribe)},
	})
}

// only allows the subjects of the list. The server treats an empty allow list of subscriptions as "everything", so an
// empty list is expressed as a deny.
func only(subjects []string) *server.SubjectPermission {
	if len(subjects) == 0 {
		return &server.SubjectPermission{Allow: []string{}, Deny: []string{">"}}
	}
	return &server.SubjectPermission{Allow: subjects}
}

func planError(account, subject string, err error) error {
	return &Error{Code: CodeFailed, Message: fmt.Sprintf("account %s cannot be joined to %s: %s", account, subject, err), Err: err}
}
