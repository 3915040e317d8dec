package bus

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
)

const kernelAccount = "KERNEL"

// The ways in which a login may reach the server.
const (
	inProcess = "IN_PROCESS"
	standard  = "STANDARD"
)

// plan is every account and user of the bus, made before the server starts.
type plan struct {
	project  string
	random   io.Reader
	kernel   *server.Account
	accounts []*server.Account
	users    []*server.User

	responder, publisher, streams Login
	principals                    map[Principal]Credentials
}

// rights are what one login may do; an empty list means nothing.
type rights struct {
	publish, subscribe []string
	ways               []string
}

func newPlan(o Options) (*plan, error) {
	kernel := server.NewAccount(kernelAccount)
	p := &plan{
		project: o.Project, random: o.Rand, kernel: kernel,
		accounts: []*server.Account{kernel}, principals: map[Principal]Credentials{},
	}
	if err := p.addKernel(o); err != nil {
		return nil, err
	}
	for _, principal := range o.Principals {
		if err := p.addPrincipal(principal); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *plan) addKernel(o Options) error {
	here := []string{inProcess}
	var err error
	p.responder, err = p.addUser(p.kernel, "kernel.responder", false, rights{
		publish:   []string{answerPrefix + ">"},
		subscribe: []string{servedPattern(p.project)},
		ways:      here,
	})
	if err != nil {
		return err
	}
	p.publisher, err = p.addUser(p.kernel, "kernel.publisher", false, rights{publish: publishable(p.project), ways: here})
	if err != nil || o.JetStreamDir == "" {
		return err
	}
	p.streams, err = p.addUser(p.kernel, "kernel.streams", true, rights{publish: []string{"$JS.API.>"}, ways: here})
	return err
}

// addPrincipal makes the two accounts of a principal. Their names differ before the
// principal's name begins, so that no name can make one's ear another's mouth.
func (p *plan) addPrincipal(who Principal) error {
	kind, user := strings.ToUpper(string(who.Kind)), string(who.Kind)+"."+who.Name
	mouth, err := p.addMouth(kind+"RPC_"+who.Name, user+".mouth", who)
	if err != nil {
		return err
	}
	ear, err := p.addEar(kind+"_"+who.Name, user+".ear", heardBy(p.project, who))
	if err != nil {
		return err
	}
	p.principals[who] = Credentials{Project: p.project, Principal: who, Mouth: mouth, Ear: ear}
	return nil
}

// addMouth makes an account that may ask for the operations of who's kind and hears
// its answers.
func (p *plan) addMouth(account, user string, who Principal) (Login, error) {
	a := p.addAccount(account)
	r := rights{ways: []string{inProcess, standard}}
	for _, op := range opsByKind[who.Kind] {
		local, served := askSubject(p.project, op), servedSubject(p.project, who, op)
		if err := p.kernel.AddServiceExport(served, []*server.Account{a}); err != nil {
			return Login{}, planError(account, served, err)
		}
		if err := a.AddServiceImport(p.kernel, local, served); err != nil {
			return Login{}, planError(account, served, err)
		}
		r.publish = append(r.publish, local)
	}
	return p.addUser(a, user, true, r)
}

// addEar makes an account that hears one subject of the kernel's and can do nothing
// else.
func (p *plan) addEar(account, user, hears string) (Login, error) {
	a := p.addAccount(account)
	// The list of an export is never empty: that would mean everybody.
	if err := p.kernel.AddStreamExport(hears, []*server.Account{a}); err != nil {
		return Login{}, planError(account, hears, err)
	}
	if err := a.AddStreamImport(p.kernel, hears, ""); err != nil {
		return Login{}, planError(account, hears, err)
	}
	return p.addUser(a, user, false, rights{subscribe: []string{hears}, ways: []string{inProcess, standard}})
}

func (p *plan) addAccount(name string) *server.Account {
	a := server.NewAccount(name)
	p.accounts = append(p.accounts, a)
	return a
}

func (p *plan) addUser(a *server.Account, name string, inbox bool, r rights) (Login, error) {
	login, err := newLogin(p.random, name)
	if err != nil {
		return Login{}, err
	}
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
	return login, nil
}

// only allows the subjects of the list. The server takes an empty allow list of
// subscriptions for "everything", so that nothing has to be said as a deny.
func only(subjects []string) *server.SubjectPermission {
	if len(subjects) == 0 {
		return &server.SubjectPermission{Allow: []string{}, Deny: []string{">"}}
	}
	return &server.SubjectPermission{Allow: subjects}
}

func planError(account, subject string, err error) error {
	return &Error{Code: CodeFailed, Message: fmt.Sprintf("account %s cannot be joined to %s: %s", account, subject, err), Err: err}
}
