package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// roster is who comes to the bus of a server: those who live in it, and those whose credentials
// count at the moment.
type roster struct {
	files    credentials
	services []configured // of files, inside the server
	bus      *bus.Server  // nil where nobody is let in from outside

	taking sync.Mutex // held while the files are taken up

	mu    sync.Mutex
	known []bus.Credentials
}

// counting are the credentials that count.
func (r *roster) counting() []bus.Credentials {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known
}

func (r *roster) count(known []bus.Credentials) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known = known
}

// agents are those that have credentials, each in a process of its own.
func (r *roster) agents() []string {
	var names []string
	for _, one := range r.counting() {
		if kind := one.Principal.Kind; kind == bus.Agent || kind == bus.Foreign {
			names = append(names, one.Principal.Name)
		}
	}
	return names
}

// here answers whether somebody lives in the server.
func (r *roster) here(who bus.Principal) bool {
	return slices.Contains(residents(), who) || slices.ContainsFunc(r.services, func(c configured) bool { return c.principal() == who })
}

// MayRegister implements kernel.Names: a credential has the names that begin with its own, and those
// on its list. What lives in the server was chosen with it.
func (r *roster) MayRegister(from kernel.Caller, tool string) error {
	who := bus.Principal{Kind: bus.Kind(from.Kind), Name: from.Name}
	if r.here(who) {
		return nil
	}
	all := r.counting()
	at := slices.IndexFunc(all, func(one bus.Credentials) bool { return one.Principal == who })
	if at >= 0 && all[at].Owns(tool) {
		return nil
	}
	if other, taken := ownerOf(all, who, tool); taken {
		return errors.New("the tool " + tool + " is a name of the credential " + other.String() + ", so that " + who.String() + " cannot register it; choose another name")
	}
	return errors.New("the credential " + who.String() + " may not register the tool " + tool + ": its tools are called " + who.Name + ".…, or stand on its list; " +
		"to allow it, run `earshot credential add " + who.Name + " --role " + string(who.Kind) + " --tools " + tool + "`, and start the service again")
}

// ownerOf is who else than who has the name of a tool as its own.
func ownerOf(all []bus.Credentials, who bus.Principal, tool string) (bus.Principal, bool) {
	for _, p := range residents() {
		if p.Kind == bus.Tool && p != who && (bus.Credentials{Principal: p}).Owns(tool) {
			return p, true
		}
	}
	for _, one := range all {
		if one.Principal != who && one.Owns(tool) {
			return one.Principal, true
		}
	}
	return bus.Principal{}, false
}

// takeUp has the files count as they are now. Whoever has none any more is cut off, whatever is
// wrong with other files: one that cannot be taken up leaves what counted before, and is told.
func (r *roster) takeUp(context.Context) (api.Credentials, error) {
	if r.bus == nil || r.bus.URL() == "" {
		return api.Credentials{}, nil
	}
	r.taking.Lock()
	defer r.taking.Unlock()
	answer := api.Credentials{URL: r.bus.URL()}
	paths, err := r.files.paths()
	if err != nil {
		return answer, notTakenUp(err)
	}
	before := r.counting()
	var next []bus.Credentials
	for _, path := range paths {
		one, err := r.readable(path, next)
		if err != nil {
			refused := api.RefusedCredential{File: filepath.Base(path), Message: cause.Of(err)}
			if said, is := errors.AsType[*cause.Error](err); is {
				refused.Message, refused.Hint = said.Message, said.Hint
			}
			answer.Refused = append(answer.Refused, refused)
			at := slices.IndexFunc(before, func(one bus.Credentials) bool { return r.files.file(one.Principal) == path })
			if at < 0 || clash(next, before[at].Principal) {
				continue
			}
			one = before[at]
		}
		next = append(next, one)
	}
	r.count(next) // before they can ask, and after the others cannot
	if err := r.bus.SetKnown(next); err != nil {
		r.count(before)
		return answer, notTakenUp(err)
	}
	if err := r.files.settle(next, r.bus.URL()); err != nil {
		return answer, notTakenUp(err)
	}
	return answer, nil
}

func notTakenUp(err error) error {
	return &web.Refusal{Kind: api.KindUnavailable, Message: "the credentials could not be taken up: " + cause.Of(err), Hint: "start the server again", Cause: err}
}

// readable reads the credentials of one file, if they can count beside others.
func (r *roster) readable(path string, beside []bus.Credentials) (bus.Credentials, error) {
	one, err := bus.ReadCredentials(path)
	if err != nil {
		return one, err
	}
	who := one.Principal
	switch {
	case one.Project != project:
		return one, cause.Fail(nil, "they are for the project "+one.Project+"; this one is "+project, "make new ones")
	case r.files.file(who) != path:
		return one, cause.Fail(nil, "they are those of "+who.String(), "call the file "+filepath.Base(r.files.file(who)))
	case slices.Contains(residents(), who) || clash(beside, who):
		return one, cause.Fail(nil, "there is somebody of the name of "+who.String()+" already", "choose another name")
	}
	return one, onlyHere(r.services, []bus.Credentials{one})
}

// clash answers whether who cannot be there beside others: two of a name, or one that would hear
// another's messages.
func clash(all []bus.Credentials, who bus.Principal) bool {
	return slices.ContainsFunc(all, func(one bus.Credentials) bool {
		return one.Principal == who || slices.Contains(rivals(who), one.Principal)
	})
}
