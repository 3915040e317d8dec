package kernel

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// Caller is who asks, as the bus has authenticated it: the kind of peer (agent, tool,
// hub) and its name.
type Caller struct{ Kind, Name string }

// The kinds of callers.
const (
	AgentCaller = "agent"
	ToolCaller  = "tool"
	HubCaller   = "hub"
	// ForeignCaller is a worker or a service of another make, which speaks v1r4 alone.
	ForeignCaller = "foreign"
)

// operation is one request: decoded, run, and answered with a value or an error.
type operation func(k *Kernel, ctx context.Context, from Caller, request []byte) (any, error)

// operations is what the kernel answers, by kind of caller. The bus's credentials say
// the same; this second fence does not rely on it.
func operations(kind, op string) operation {
	switch kind {
	case AgentCaller:
		return agentOperation(op)
	case ToolCaller:
		return toolOperation(op)
	case HubCaller:
		return hubOperation(op)
	case ForeignCaller:
		return foreignOperation(op)
	}
	return nil
}

func agentOperation(op string) operation {
	switch op {
	case api.OpClaim:
		return serve((*Kernel).claim)
	case api.OpRenew:
		return serve((*Kernel).renew)
	case api.OpCall:
		return serve((*Kernel).call)
	case api.OpCard:
		return serve((*Kernel).saveCard)
	case api.OpResume:
		return serve((*Kernel).resume)
	case api.OpTranscript:
		return serve((*Kernel).transcript)
	case api.OpDeliver:
		return serve((*Kernel).deliver)
	case api.OpSay:
		return serve((*Kernel).say)
	case api.OpRelease:
		return serve((*Kernel).release)
	case api.OpPut:
		return serve((*Kernel).put)
	case api.OpGet:
		return serve((*Kernel).get)
	}
	return nil
}

func toolOperation(op string) operation {
	switch op {
	case api.OpRegister:
		return serve((*Kernel).register)
	case api.OpStart:
		return serve((*Kernel).start)
	case api.OpBeat:
		return serve((*Kernel).beat)
	case api.OpFinish:
		return serve((*Kernel).finish)
	case api.OpReconcile:
		return serve((*Kernel).reconcile)
	case api.OpSettle:
		return serve((*Kernel).settle)
	case api.OpPut:
		return serve((*Kernel).put)
	case api.OpGet:
		return serve((*Kernel).get)
	}
	return nil
}

func hubOperation(op string) operation {
	switch op {
	case api.OpEnqueue:
		return serve((*Kernel).enqueue)
	case api.OpSessions:
		return serve((*Kernel).sessions)
	case api.OpEvents:
		return serve((*Kernel).events)
	case api.OpQuestions:
		return serve((*Kernel).questions)
	case api.OpArguments:
		return serve((*Kernel).arguments)
	case api.OpAnswer:
		return serve((*Kernel).answer)
	case api.OpExtend:
		return serve((*Kernel).extend)
	case api.OpStop:
		return serve((*Kernel).stop)
	case api.OpUndo:
		return serve((*Kernel).undo)
	case api.OpNoticed:
		return serve((*Kernel).noticed)
	case api.OpAbsent:
		return serve((*Kernel).absent)
	case api.OpSince:
		return serve((*Kernel).since)
	case api.OpPresent:
		return serve((*Kernel).present)
	case api.OpPrefer:
		return serve((*Kernel).prefer)
	}
	return operatorOperation(op)
}

// Handle answers one request as `{"ok":…}` or `{"error":…}`. It is safe for
// concurrent use.
func (k *Kernel) Handle(ctx context.Context, from Caller, op string, request []byte) []byte {
	run := operations(from.Kind, op)
	if run == nil {
		return api.EncodeAnswer(nil, fault(utp.CodeAuthFailed, "a "+from.Kind+" may not ask for "+op))
	}
	value, err := run(k, ctx, from, request)
	if err != nil {
		k.o.Logger.Debug("refused", "op", op, "kind", from.Kind, "name", from.Name, "error", err)
		return api.EncodeAnswer(nil, protocolError(err))
	}
	return api.EncodeAnswer(value, nil)
}

// serve decodes strictly: unknown members, duplicates and wrong types are bad_request.
func serve[Q, A any](run func(*Kernel, context.Context, Caller, Q) (A, error)) operation {
	return func(k *Kernel, ctx context.Context, from Caller, request []byte) (any, error) {
		var q Q
		if err := json.Unmarshal(request, &q, json.RejectUnknownMembers(true)); err != nil {
			return nil, fault(utp.CodeBadRequest, "the request cannot be read: "+err.Error())
		}
		return run(k, ctx, from, q)
	}
}
