package hub

import (
	"context"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/rpc"
)

// Passkeys lists the passkeys of a person, or of everybody if the person is "".
func (h *Hub) Passkeys(ctx context.Context, person string) (api.PasskeysAnswer, error) {
	var a api.PasskeysAnswer
	err := rpc.AskUntil(ctx, h.o.Conn, api.OpPasskeys, api.PasskeysRequest{Person: person}, &a)
	return a, err
}

// Passkeys lists the principal's own passkeys.
func (p *Person) Passkeys(ctx context.Context) (api.PasskeysAnswer, error) {
	who, err := p.listens()
	if err != nil {
		return api.PasskeysAnswer{}, err
	}
	return p.hub.Passkeys(ctx, who.Name)
}

// PasskeyChallenge returns what a passkey of the principal has to sign.
func (p *Person) PasskeyChallenge(ctx context.Context, q api.PasskeyChallengeRequest) (api.PasskeyChallenge, error) {
	var a api.PasskeyChallenge
	who, err := p.holder()
	if err == nil {
		q.By, q.Credential = who.Name, p.who.Credential
		err = rpc.AskUntil(ctx, p.hub.o.Conn, api.OpPasskeyChallenge, q, &a)
	}
	return a, err
}

// AddPasskey adds a passkey of the principal's.
func (p *Person) AddPasskey(ctx context.Context, q api.ChangePasskeyRequest) (api.Passkey, error) {
	return p.changePasskey(ctx, api.OpPasskeyAdd, q)
}

// RemovePasskey removes one of the principal's passkeys.
func (p *Person) RemovePasskey(ctx context.Context, q api.ChangePasskeyRequest) (api.Passkey, error) {
	return p.changePasskey(ctx, api.OpPasskeyRemove, q)
}

func (p *Person) changePasskey(ctx context.Context, op string, q api.ChangePasskeyRequest) (api.Passkey, error) {
	var a api.Passkey
	who, err := p.holder()
	if err == nil {
		q.By, q.Credential = who.Name, p.who.Credential
		err = rpc.Ask(ctx, p.hub.o.Conn, op, q, &a)
	}
	return a, err
}

// holder returns the principal's current rights, if it may have passkeys: a person who answers, and is known to be there.
func (p *Person) holder() (access.Principal, error) {
	who, err := p.hub.current(p.who)
	switch {
	case err != nil:
		return who, err
	case !who.Has(access.Approver):
		return who, notAllowed("only an approver has passkeys", "use a login with the role approver")
	case who.Unattended != "":
		return who, &Error{Code: CodeLogin, Message: "passkeys are used on the page: " + who.Unattended, Hint: "log in on the page"}
	}
	return who, nil
}
