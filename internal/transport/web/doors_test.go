package web_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// doors is an access in memory: the secret is the name of the principal.
type doors struct {
	mu    sync.Mutex
	who   map[string]web.Principal
	pages map[string]string
	bells []chan struct{}
	codes map[string]string
	// browsers are those that have logged in.
	browsers []string
	users    map[string]string // of this machine, by cookie
	// terminals are the persons who have logged in, by the keys of their terminals.
	terminals map[string]string
}

func newDoors() *doors {
	d := &doors{who: map[string]web.Principal{}, pages: map[string]string{}, users: map[string]string{}, terminals: map[string]string{}, codes: map[string]string{"AAAA-1111": "ada"}}
	for name, roles := range map[string][]access.Role{
		"ada": {access.Listener, access.Approver, access.Operator}, "anna": {access.Listener, access.Approver}, "lis": {access.Listener}, "aud": {access.Auditor}, "ope": {access.Operator},
		"bot": {access.Agent}, "box": {access.Tool}, "sly": {access.Approver, access.Agent},
	} {
		d.who[name] = web.Principal{Name: name, Roles: roles}
	}
	d.who["cmd"] = web.Principal{Name: "cmd", Roles: []access.Role{access.Listener, access.Approver, access.Operator}, Unattended: "this terminal is not logged in"}
	return d
}

func (d *doors) Authenticate(secret string) (web.Principal, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p, ok := d.who[strings.TrimPrefix(secret, "secret-")]; ok && strings.HasPrefix(secret, "secret-") {
		return p, nil
	}
	return web.Principal{}, access.ErrUnknown
}

func (d *doors) Code(p web.Principal) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.codes) > 1 {
		return "", errors.New("too many codes")
	}
	d.codes["BBBB-2222"] = p.Name
	return "BBBB-2222", nil
}

// ShortCode creates the same code.
func (d *doors) ShortCode(p web.Principal) (string, error) {
	_, err := d.Code(p)
	return "1234-5678", err
}

func (d *doors) Login(code string, in access.Browser) (access.PageSession, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	name, ok := d.codes[strings.TrimSpace(code)]
	if !ok {
		return access.PageSession{}, access.ErrUnknown
	}
	delete(d.codes, strings.TrimSpace(code))
	d.browsers = append(d.browsers, in.Name)
	cookie := "cookie-of-" + name
	d.pages[cookie] = name
	d.users[cookie] = in.User
	return access.PageSession{Cookie: cookie, Expires: noon.Add(12 * time.Hour)}, nil
}

func (d *doors) Page(cookie, user string) (web.Principal, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, ok := d.who[d.pages[cookie]]
	if !ok || d.users[cookie] != user {
		return web.Principal{}, access.ErrUnknown
	}
	p.Surface = "page"
	return p, nil
}

// A terminal's key is the name of the person who has logged in there.
func (d *doors) AtTerminal(p web.Principal, at access.Terminal) (web.Principal, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.terminals[at.Key] != p.Name {
		return web.Principal{}, access.ErrUnknown
	}
	p.Unattended, p.Surface = "", "terminal:"+at.Name
	return p, nil
}

func (d *doors) TerminalCode(web.Principal, access.Terminal) (string, error) { return "1234-5678", nil }

func (d *doors) LoginTerminal(person, code string, at access.Terminal) (web.Principal, time.Time, error) {
	if code != "1234-5678" {
		return web.Principal{}, time.Time{}, access.ErrUnknown
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.terminals[at.Key] = person
	return web.Principal{Name: person}, noon.Add(12 * time.Hour), nil
}

func (d *doors) LogoutTerminal(p web.Principal, at access.Terminal) error {
	if _, err := d.AtTerminal(p, at); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.terminals, at.Key)
	return nil
}

// BeginVouched begins the page session of whom a provider vouches for, who is ada.
func (d *doors) BeginVouched(v access.Vouched, in access.Browser) (access.PageSession, error) {
	if v.Subject != "ada" {
		return access.PageSession{}, &access.Error{Code: access.CodeNoRole, Message: "nothing gives a role here", Hint: "ask the operator"}
	}
	return d.Login("AAAA-1111", in)
}

// Spend takes the code of a person that is their name.
func (d *doors) Spend(person, code string) error {
	if code != person {
		return access.ErrUnknown
	}
	return nil
}

func (d *doors) Logout(cookie string) {
	d.mu.Lock()
	delete(d.pages, cookie)
	d.mu.Unlock()
	d.ring()
}

func (d *doors) Watch(ctx context.Context) <-chan struct{} {
	bell := make(chan struct{}, 1)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.bells = append(d.bells, bell)
	context.AfterFunc(ctx, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.bells = slices.DeleteFunc(d.bells, func(b chan struct{}) bool { return b == bell })
		close(bell)
	})
	return bell
}

func (d *doors) ring() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, bell := range d.bells {
		select {
		case bell <- struct{}{}:
		default:
		}
	}
}
