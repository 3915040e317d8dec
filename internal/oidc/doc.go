// Package oidc verifies the tokens of an OpenID Connect provider: JSON Web Tokens that it has signed for one audience. It fetches the
// provider's keys, follows their rotation, and maps a claim to the roles that the operator gives. It implements [access.Provider].
package oidc
