package instance

import (
	"context"
	"crypto/rand"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/credentialfile"
	"github.com/earshot-dev/earshot/internal/kernel"
)

// Members are the principals of the bus: those in this process, and those with valid credentials. It is safe for
// concurrent use.
type Members struct {
	project   string
	files     credentialfile.Dir
	residents []bus.Principal
	services  []Service
	bus       *bus.Server

	taking sync.Mutex // locked while the files are reloaded

	mu    sync.Mutex
	known []bus.Credentials
	// added are those of services in this process that were started after it.
	added []bus.Credentials
}

// admit lets a further service of this process connect.
func (m *Members) admit(s Service) error {
	m.taking.Lock()
	defer m.taking.Unlock()
	who := s.principal()
	if m.isHere(who) {
		return nil
	}
	if credentialfile.Clash(m.counting(), who) {
		return cause.Misuse("there are credentials of the name "+s.Name+" for another process",
			"revoke them with `earshot credential revoke "+s.Name+"`, or give the service another name")
	}
	own, err := bus.NewCredentials(rand.Reader, m.project, who)
	if err != nil {
		return cause.Fail(err, "the service "+s.Name+" has no credentials for the message bus", "")
	}
	return m.setAdded(append(m.addedNow(), own))
}

// dismiss takes back what admit has done for a service.
func (m *Members) dismiss(s Service) error {
	m.taking.Lock()
	defer m.taking.Unlock()
	before := m.addedNow()
	left := slices.DeleteFunc(slices.Clone(before), func(one bus.Credentials) bool { return one.Principal == s.principal() })
	if len(left) == len(before) {
		return nil
	}
	return m.setAdded(left)
}

// setAdded needs taking.
func (m *Members) setAdded(added []bus.Credentials) error {
	if err := m.bus.SetKnown(slices.Concat(m.counting(), added)); err != nil {
		return cause.Fail(err, "the message bus does not let the service in", "start the server again")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.added = added
	return nil
}

func (m *Members) addedNow() []bus.Credentials {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.added)
}

// here returns the principals in this process.
func (m *Members) here() []bus.Principal {
	all := slices.Clone(m.residents)
	for _, one := range m.addedNow() {
		all = append(all, one.Principal)
	}
	return all
}

func (m *Members) isHere(who bus.Principal) bool { return slices.Contains(m.here(), who) }

// counting returns the valid credentials.
func (m *Members) counting() []bus.Credentials {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known
}

func (m *Members) count(known []bus.Credentials) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known = known
}

// Agents returns the external agents with credentials.
func (m *Members) Agents() []string {
	var names []string
	for _, one := range m.counting() {
		if kind := one.Principal.Kind; kind == bus.Agent || kind == bus.External {
			names = append(names, one.Principal.Name)
		}
	}
	return names
}

// AgentConnection is an external agent with a credential, and since when it is connected; the zero time if it is not.
type AgentConnection struct {
	Principal bus.Principal
	Since     time.Time
}

// AgentConnections returns the external agents with credentials. Error: the bus's.
func (m *Members) AgentConnections() ([]AgentConnection, error) {
	since, err := m.bus.Connected()
	if err != nil {
		return nil, err
	}
	var all []AgentConnection
	for _, one := range m.counting() {
		if kind := one.Principal.Kind; kind == bus.Agent || kind == bus.External {
			all = append(all, AgentConnection{one.Principal, since[one.Principal]})
		}
	}
	return all, nil
}

// MayRegister implements kernel.Names. A credential owns the names that begin with its own, and those on its list.
// Services in this process may register their tools.
func (m *Members) MayRegister(from kernel.Caller, tool string) error {
	who := bus.Principal{Kind: bus.Kind(from.Kind), Name: from.Name}
	if m.isHere(who) {
		return nil
	}
	all := m.counting()
	at := slices.IndexFunc(all, func(one bus.Credentials) bool { return one.Principal == who })
	if at >= 0 && all[at].Owns(tool) {
		return nil
	}
	if other, taken := credentialfile.OwnerOf(tool, all, m.here(), who); taken {
		return errors.New("the tool " + tool + " is a name of the credential " + other.String() + ", so that " + who.String() + " cannot register it; choose another name")
	}
	return errors.New("the credential " + who.String() + " may not register the tool " + tool + ": its tools are called " + who.Name + ".…, or stand on its list; " +
		"to allow it, run `earshot credential add " + who.Name + " --role " + string(who.Kind) + " --tools " + tool + "`, and start the service again")
}

// Reload makes the current files take effect. A principal without a file is disconnected, even if other files are
// invalid. An invalid file is reported, and its previous credentials remain valid.
func (m *Members) Reload(context.Context) (api.Credentials, error) {
	if m.bus.URL() == "" {
		return api.Credentials{}, nil
	}
	m.taking.Lock()
	defer m.taking.Unlock()
	answer := api.Credentials{URL: m.bus.URL()}
	paths, err := m.files.Paths()
	if err != nil {
		return answer, reloadError(err)
	}
	before := m.counting()
	var next []bus.Credentials
	for _, path := range paths {
		one, err := m.readable(path, next)
		if err != nil {
			refused := api.RefusedCredential{File: filepath.Base(path), Message: cause.Of(err)}
			if failure, is := errors.AsType[*cause.Error](err); is {
				refused.Message, refused.Hint = failure.Message, failure.Hint
			}
			answer.Refused = append(answer.Refused, refused)
			at := slices.IndexFunc(before, func(one bus.Credentials) bool { return m.files.File(one.Principal) == path })
			if at < 0 || credentialfile.Clash(next, before[at].Principal) {
				continue
			}
			one = before[at]
		}
		next = append(next, one)
	}
	m.count(next) // before the new ones can make requests, and after the removed ones no longer can
	if err := m.bus.SetKnown(slices.Concat(next, m.addedNow())); err != nil {
		m.count(before)
		return answer, reloadError(err)
	}
	if err := m.files.SetURL(next, m.bus.URL()); err != nil {
		return answer, reloadError(err)
	}
	return answer, nil
}

func reloadError(err error) error {
	return cause.Fail(err, "the credentials could not be taken up", "start the server again")
}

// readable reads the credentials of one file, if they are compatible with the others.
func (m *Members) readable(path string, others []bus.Credentials) (bus.Credentials, error) {
	one, err := bus.ReadCredentials(path)
	if err != nil {
		return one, err
	}
	who := one.Principal
	switch {
	case one.Project != m.project:
		return one, cause.Fail(nil, "they are for the project "+one.Project+"; this one is "+m.project, "make new ones")
	case m.files.File(who) != path:
		return one, cause.Fail(nil, "they are those of "+who.String(), "call the file "+filepath.Base(m.files.File(who)))
	}
	if err := m.onlyHere(one); err != nil {
		return one, err
	}
	if m.isHere(who) || credentialfile.Clash(others, who) {
		return one, cause.Fail(nil, "there is somebody of the name of "+who.String()+" already", "choose another name")
	}
	return one, nil
}

// onlyHere refuses credentials for a service that runs inside the server: with them, another process could offer tools
// under its name.
func (m *Members) onlyHere(one bus.Credentials) error {
	at := slices.IndexFunc(m.services, func(s Service) bool {
		return one.Principal == s.principal() || one.Principal == bus.Principal{Kind: bus.External, Name: s.Name}
	})
	if at < 0 {
		return nil
	}
	name, other := m.services[at].Name, one.Principal
	return cause.Misuse("the service "+name+" runs inside the server by --tools, and there are credentials of "+other.String()+" for another process",
		"revoke them with `earshot credential revoke "+name+" --role "+string(other.Kind)+"`, or serve the file there with `earshot serve`")
}
