package kernel

import (
	"context"
	"reflect"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/admin"
	"github.com/earshot-dev/earshot/internal/kernel/external"
	"github.com/earshot-dev/earshot/internal/kernel/passkeys"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

// Caller is who asks, as the bus has authenticated it: the kind of peer (agent, tool,
// hub) and its name.
type Caller struct{ Kind, Name string }

// The kinds of callers.
const (
	AgentCaller    = string(api.Agent)
	ToolCaller     = string(api.Tool)
	HubCaller      = string(api.Hub)
	ExternalCaller = string(api.External)
)

// operation is one request: decoded, run, and answered with a value or an error.
type operation struct {
	run             func(k *Kernel, ctx context.Context, from Caller, request []byte) (any, error)
	request, answer reflect.Type
}

// handlers run the operations of [api.Operations], by name, and externalHandlers those that a third-party peer
// requests in its own form.
var (
	handlers = sync.OnceValue(func() map[string]operation {
		return map[string]operation{
			api.OpClaim: serve((*Kernel).claim), api.OpRenew: serve((*Kernel).renew), api.OpCall: serve((*Kernel).call), api.OpCard: serve((*Kernel).saveCard),
			api.OpTranscript: serve((*Kernel).transcript), api.OpResume: serve((*Kernel).resume), api.OpDeliver: serve((*Kernel).deliver),
			api.OpAgentText: serve((*Kernel).agentText), api.OpRelease: serve((*Kernel).release), api.OpSpawn: serve((*Kernel).spawn), api.OpReadBox: serve((*Kernel).readBox),

			api.OpRegister: serve((*Kernel).register), api.OpServes: serve((*Kernel).serves), api.OpStart: serve((*Kernel).start), api.OpHeartbeat: serve((*Kernel).heartbeat),
			api.OpFinish: serve((*Kernel).finish), api.OpReconcile: serve((*Kernel).reconcile), api.OpSettle: serve((*Kernel).reconciled), api.OpInquire: serve((*Kernel).inquire),

			api.OpPut: serve((*Kernel).putBlob), api.OpGet: serve((*Kernel).getBlob),

			api.OpRead: serveView(external.ReadCard), api.OpInbox: serveView(external.Inbox),
			api.OpReport: receive((*Kernel).report), api.OpCommand: receive((*Kernel).externalCommand),

			api.OpEnqueue: serve((*Kernel).enqueue), api.OpSessions: serveAdmin((*admin.Admin).Sessions), api.OpEvents: serveAdmin((*admin.Admin).Events),
			api.OpSince: serveAdmin((*admin.Admin).Since), api.OpQuestions: serveAdmin((*admin.Admin).Questions), api.OpArguments: serve((*Kernel).arguments),
			api.OpPresent: serve((*Kernel).present), api.OpNoticed: serve((*Kernel).noticed), api.OpAnswer: serve((*Kernel).answer),
			api.OpExtend: serve((*Kernel).extend), api.OpUndo: serve((*Kernel).undo), api.OpStop: serve((*Kernel).stop),
			api.OpAbsent: serve((*Kernel).absent), api.OpPrefer: serve((*Kernel).prefer),
			api.OpPermissions: serve((*Kernel).listPermissions), api.OpRevoke: serve((*Kernel).revoke),

			api.OpPasskeyChallenge: servePasskeys((*passkeys.Passkeys).Challenge), api.OpPasskeyAdd: servePasskeys((*passkeys.Passkeys).Add),
			api.OpPasskeyRemove: servePasskeys((*passkeys.Passkeys).Remove),
			api.OpPasskeys:      servePasskeys((*passkeys.Passkeys).List), api.OpRevokePasskey: servePasskeys((*passkeys.Passkeys).Revoke),

			api.OpOpen: serve((*Kernel).openOutside), api.OpOffered: serve((*Kernel).offered), api.OpInvoke: serve((*Kernel).invoke),
			api.OpAwait: serve((*Kernel).await), api.OpAgentReport: serve((*Kernel).reportOutside), api.OpClose: serve((*Kernel).closeOutside),
			api.OpAct: serve((*Kernel).act), api.OpUIAction: receive((*Kernel).uiAction),

			api.OpTurn: serveAdmin((*admin.Admin).TurnDetail), api.OpCards: serveAdmin((*admin.Admin).Cards),
			api.OpBoxes: serveAdmin((*admin.Admin).Boxes), api.OpTools: serveAdmin((*admin.Admin).Tools),
			api.OpDead: serveAdmin((*admin.Admin).Dead), api.OpExport: serveAdmin((*admin.Admin).Export), api.OpAudit: serveAdmin((*admin.Admin).Audit),
			api.OpReview: serveAdmin((*admin.Admin).Reviewed), api.OpAdd: serve((*Kernel).add), api.OpRemove: serve((*Kernel).remove),
			api.OpAgents: serveAdmin((*admin.Admin).Agents), api.OpDefineAgent: serve((*Kernel).defineAgent), api.OpRemoveAgent: serve((*Kernel).removeAgent),
			api.OpRetry: serve((*Kernel).retry), api.OpErase: serveAdmin((*admin.Admin).Erase), api.OpImport: serveAdmin((*admin.Admin).Import),
		}
	})
	externalHandlers = sync.OnceValue(func() map[string]operation {
		return map[string]operation{
			api.OpCard: serve((*Kernel).saveExternalCard), api.OpRegister: serve((*Kernel).registerExternal),
		}
	})
)

// handler returns the handler of an operation for a caller; false if the caller may not request it. The bus's
// credentials enforce the same; this second check does not rely on them.
func handler(from Caller, op string) (operation, bool) {
	may := api.MayAsk(api.Peer(from.Kind), op) || from.Kind == ExternalCaller && op == api.OpCommand // it comes on its own subject
	if !may {
		return operation{}, false
	}
	if h, is := externalHandlers()[op]; is && from.Kind == ExternalCaller {
		return h, true
	}
	h, is := handlers()[op]
	return h, is
}

// Handle answers one request as `{"ok":…}` or `{"error":…}`. It is safe for
// concurrent use.
func (k *Kernel) Handle(ctx context.Context, from Caller, op string, request []byte) []byte {
	o, may := handler(from, op)
	if !may {
		return api.EncodeAnswer(nil, api.NewFault(utp.CodeAuthFailed, "a "+from.Kind+" may not ask for "+op))
	}
	value, err := o.run(k, ctx, from, request)
	if err != nil {
		k.o.Logger.Debug("refused", "op", op, "kind", from.Kind, "name", from.Name, "error", err)
		return api.EncodeAnswer(nil, store.ProtocolError(err))
	}
	return api.EncodeAnswer(value, nil)
}

// serve decodes strictly: unknown members, duplicates and wrong types are bad_request.
func serve[Q, A any](run func(*Kernel, context.Context, Caller, Q) (A, error)) operation {
	return operation{request: reflect.TypeFor[Q](), answer: reflect.TypeFor[A](), run: func(k *Kernel, ctx context.Context, from Caller, request []byte) (any, error) {
		var q Q
		if err := json.Unmarshal(request, &q, json.RejectUnknownMembers(true)); err != nil {
			return nil, api.NewFault(utp.CodeBadRequest, "the request cannot be read: "+err.Error())
		}
		return run(k, ctx, from, q)
	}}
}

// serveAdmin is serve for the administration of the ledger, no matter who asks.
func serveAdmin[Q, A any](run func(*admin.Admin, context.Context, Q) (A, error)) operation {
	return serve(func(k *Kernel, ctx context.Context, _ Caller, q Q) (A, error) { return run(k.admin, ctx, q) })
}

// servePasskeys is serve for the passkeys of people, no matter who asks.
func servePasskeys[Q, A any](run func(*passkeys.Passkeys, context.Context, Q) (A, error)) operation {
	return serve(func(k *Kernel, ctx context.Context, _ Caller, q Q) (A, error) { return run(k.passkeys, ctx, q) })
}
