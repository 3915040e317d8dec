package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/oauth2"

	"github.com/earshot-dev/earshot/internal/cause"
)

// Revoke tells the authorization server that the tokens of a login are not used any more (RFC 7009). It reports false if
// the server offers no such thing, or there is nothing to revoke.
func (s *Store) Revoke(ctx context.Context, l Login) (bool, error) {
	token, kind := l.RefreshToken, "refresh_token"
	if token == "" {
		token, kind = l.AccessToken, "access_token"
	}
	if l.RevocationURL == "" || token == "" {
		return false, nil
	}
	client, err := clientOf(l.Server, l.Networks)
	if err != nil {
		return false, err
	}
	secret, err := s.secretOf(l.Client)
	if err != nil {
		return false, err
	}
	form := url.Values{"token": {token}, "token_type_hint": {kind}}
	if l.Client.Style != oauth2.AuthStyleInHeader {
		form.Set("client_id", l.Client.ID)
		if secret != "" {
			form.Set("client_secret", secret)
		}
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, l.RevocationURL, strings.NewReader(form.Encode()))
	if err != nil {
		return false, errors.New("its address cannot be read")
	}
	q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if l.Client.Style == oauth2.AuthStyleInHeader {
		q.SetBasicAuth(url.QueryEscape(l.Client.ID), url.QueryEscape(secret))
	}
	answer, err := client.Do(q)
	if err != nil {
		return false, errors.New(reason(err))
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return false, errors.New("it answered with the status " + cause.OneLine(answer.Status))
	}
	return true, nil
}
