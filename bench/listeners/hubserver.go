package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/narrate"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// hub is the server as `earshot up` has it, with a token for each listener.
func (s settings) hub(l *ledger) (http.Handler, []string, func(), error) {
	dir, err := os.MkdirTemp("", "earshot-listeners-")
	if err != nil {
		return nil, nil, nil, err
	}
	path := filepath.Join(dir, "tokens.json")
	tokens, err := s.tokens(path)
	if err != nil {
		return nil, nil, nil, err
	}
	store, err := access.Open(access.Options{Path: path})
	if err != nil {
		return nil, nil, nil, err
	}
	translations, tags, err := translations()
	if err != nil {
		return nil, nil, nil, err
	}
	h := hub.Open(hub.Options{
		Conn: l, Rights: store, Offer: pacing.Offer{Producer: aaep.Producer{AgentID: "earshot"}, Languages: tags}, Translations: translations,
		Subscriptions: 2 * s.listeners, SubscriptionsEach: 2 * s.listeners, Poll: 2 * time.Second, Idle: 15 * time.Second,
	})
	w, err := web.New(web.Options{Hub: web.FromHub(h), Access: store, Streams: 2 * s.listeners})
	if err != nil {
		return nil, nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var owned sync.WaitGroup
	owned.Go(func() { _ = h.Run(ctx) })
	for !l.open() {
		time.Sleep(time.Millisecond)
	}
	return w, tokens, func() {
		w.Close()
		cancel()
		owned.Wait()
		_ = os.RemoveAll(dir)
	}, nil
}

// tokens writes the file with one for each listener, who hears the sessions of one person. To add them one after the
// other would read and write the file for each.
func (s settings) tokens(path string) (all []string, _ error) {
	var file struct {
		Version int            `json:"version"`
		Tokens  []access.Token `json:"tokens"`
	}
	file.Version = 1
	for n := range s.listeners {
		name := "listener" + strconv.Itoa(n)
		secret := fmt.Sprintf("earshot_%043d", n)
		hash := sha256.Sum256([]byte(secret))
		file.Tokens = append(file.Tokens, access.Token{
			ID: fmt.Sprintf("%016x", n+1), Name: name, Person: name, Roles: []access.Role{access.Listener}, Owners: []string{s.owner(n)},
			Surface: name, Created: time.Now(), SHA256: hex.EncodeToString(hash[:]),
		})
		all = append(all, secret)
	}
	raw, err := json.Marshal(file)
	if err != nil {
		return nil, err
	}
	return all, os.WriteFile(path, raw, 0o600)
}

// translations are those that there are.
func translations() (all []hub.Translation, tags []string, _ error) {
	for _, c := range narrate.Translations() {
		t, err := narrate.NewTranslation(c)
		if err != nil {
			return nil, nil, err
		}
		all, tags = append(all, t), append(tags, t.Tag())
	}
	return all, append([]string{"en"}, tags...), nil
}
