package server

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/gateway/producer"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// producersFolder holds what is remembered of the sessions of producers, and producersAge is for how long after their last event: longer than
// a session may be quiet.
const (
	producersFolder = "producers"
	producersAge    = 48 * time.Hour
)

// producers takes events of producers of AAEP for the agents that send them.
type producers struct {
	server *Server
	ingest *producer.Ingester
}

func (s *Server) newProducers(data string, now func() time.Time) producers {
	folder := producer.Folder(filepath.Join(data, producersFolder))
	folder.Sweep(now(), producersAge)
	return producers{server: s, ingest: producer.NewIngester(producer.Options{Memory: folder, Now: now})}
}

// caller connects to this server as the agent of a token. The server checks again what it may do.
func (p producers) caller(by web.Sender) producer.Caller {
	inProcess := web.InProcess(func() http.Handler { return p.server.web })
	agent := client.NewAgent(client.Options{URL: p.server.url, Token: by.Token, Name: "ingest", Transport: inProcess})
	return producer.Caller{Agent: producer.Client{Agent: agent}, Name: by.Principal.Name, Owner: by.Owner}
}

// Accept implements [web.Producers].
func (p producers) Accept(ctx context.Context, by web.Sender, events [][]byte) (api.Ingested, error) {
	return p.ingest.Accept(ctx, p.caller(by), events), nil
}

// Reply implements [web.Producers].
func (p producers) Reply(ctx context.Context, by web.Sender, session, token string, wait time.Duration) (api.IngestReply, error) {
	answer, err := p.ingest.Reply(ctx, p.caller(by), session, token, wait)
	e, is := errors.AsType[*client.Error](err)
	switch {
	case err == nil:
		return answer, nil
	case errors.Is(err, producer.ErrUnknown):
		return answer, &web.Refusal{Kind: api.KindNotFound, Message: "no such question was sent here by this agent", Hint: "send the event with the question first, with the same token"}
	case is && e.Retry:
		return answer, &web.Refusal{Kind: api.KindUnavailable, Message: e.Message, Hint: "ask again", After: time.Second, Cause: err}
	case is:
		return answer, &web.Refusal{Kind: api.KindConflict, Code: string(e.Code), Message: e.Message, Hint: e.Hint, Cause: err}
	}
	return answer, err
}
