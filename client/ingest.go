package client

import (
	"bytes"
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
)

// Ingest sends events of a producer of AAEP, each a JSON text, in their order. An event that is sent again is told once, so that a lost answer
// is repaired by another try. For whom the producer's sessions are is the default of the token, unless an owner is given.
func (a *Agent) Ingest(ctx context.Context, owner string, events [][]byte) (api.Ingested, error) {
	var answer api.Ingested

	body := make([]byte, 0, len(events))

	for _, e := range events {
		line := jsontext.Value(bytes.Clone(e))
		if line.Compact() != nil {
			line = bytes.ReplaceAll(line, []byte("\n"), []byte(" ")) // what is wrong with it is for the server to say
		}

		body = append(append(body, line...), '\n')
	}

	query := url.Values{}
	if owner != "" {
		query.Set("owner", owner)
	}

	err := a.c.again(ctx, new(string), func(ctx context.Context, _ map[string]string) error {
		answer = api.Ingested{}

		return a.c.callRaw(ctx, callTime, map[string]string{"Content-Type": "application/x-ndjson"}, to(api.RouteIngest).with(query), body, &answer)
	})

	return answer, err
}

// IngestReply waits for the answer to a question of a producer with one request, at most the given time (up to [MaxWait]). Without an outcome
// the question is open.
func (a *Agent) IngestReply(ctx context.Context, session, token string, wait time.Duration) (api.IngestReply, error) {
	var answer api.IngestReply

	query := url.Values{
		"session_id": {session}, "reply_token": {token}, "wait": {strconv.Itoa(int(min(max(wait, 0), MaxWait) / time.Second))},
	}
	err := a.c.callFor(ctx, wait+callTime, nil, to(api.RouteIngestReply).with(query), nil, &answer)

	return answer, err
}
