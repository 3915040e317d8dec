package operate

import (
	"context"
	"crypto/ed25519"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
	"github.com/earshot-dev/earshot/internal/cause"
)

// Head is the newest entry of the audit chain; its number is 0 where there is none.
func Head(ctx context.Context, ask Ask) (audit.Head, error) {
	var newest api.AuditAnswer
	if err := ask(ctx, api.OpAudit, api.AuditRequest{Head: true}, &newest); err != nil {
		return audit.Head{}, err
	}
	head := audit.Head{}
	for _, e := range newest.Entries {
		head = audit.Head{N: e.N, Link: e.Link}
	}
	return head, nil
}

// SignHead signs the newest head with what names its chain.
func SignHead(ctx context.Context, ask Ask, key ed25519.PrivateKey, head audit.Head, now time.Time) (audit.SignedHead, error) {
	var first api.AuditAnswer
	if err := ask(ctx, api.OpAudit, api.AuditRequest{}, &first); err != nil {
		return audit.SignedHead{}, err
	}
	if len(first.Entries) == 0 || first.Entries[0].N != 1 {
		return audit.SignedHead{}, cause.Fail(nil, "the first entry of the chain is not there, so its head was not signed", "see `earshot audit verify`")
	}
	return audit.Sign(key, head, first.Entries[0].Link, now), nil
}
