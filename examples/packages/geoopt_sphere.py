"""geoopt: finds eigenvectors on the Stiefel manifold, and places a tree in the Poincaré ball, by Riemannian steps."""

import geoopt
import torch


def eigenvectors() -> None:
    """The two largest directions of a matrix, as an orthogonal frame that follows the gradient."""
    root = torch.randn(6, 6)
    matrix = root @ root.T
    stiefel = geoopt.EuclideanStiefel()
    frame = geoopt.ManifoldParameter(stiefel.random(6, 2), manifold=stiefel)
    for kind, lr in ((geoopt.optim.RiemannianSGD, 0.01), (geoopt.optim.RiemannianAdam, 0.05)):
        with torch.no_grad():
            frame.copy_(stiefel.projx(torch.eye(6, 2) + 0.1))
        optimizer = kind([frame], lr=lr)
        for _ in range(60):
            loss = -(frame.T @ matrix @ frame).trace()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        exact = torch.linalg.eigvalsh(matrix)[-2:].sum()
        error = (frame.T @ frame - torch.eye(2)).norm()
        print(f"{kind.__name__}: {-loss.item():.6f} of {exact.item():.6f}, orthogonal to {error.item():.0e}")


def tree() -> None:
    """Seven points whose distances in the ball are those of a tree."""
    ball = geoopt.PoincareBall(c=1.0, learnable=True)
    places = geoopt.ManifoldParameter(ball.random_normal(7, 2, std=0.1), manifold=ball)
    edges = torch.tensor([[0, 0, 1, 1, 2, 2], [1, 2, 3, 4, 5, 6]])
    optimizer = geoopt.optim.RiemannianAdam([places], lr=0.02, stabilize=10)
    for step in range(61):
        distances = ball.dist(places[:, None], places[None])
        near = ball.dist(places[edges[0]], places[edges[1]])
        loss = (near - 1).square().mean() + torch.exp(-distances).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 30 == 0:
            print(f"step {step:2d}   loss {loss.item():.6f}")
    print(ball, f"slope by curvature {ball.isp_c.grad.item():.6f}")


def distances() -> None:
    """Distances on other manifolds."""
    sphere, hyperbola = geoopt.Sphere(), geoopt.Lorentz()
    x, y = sphere.random_uniform(3, 4), sphere.random_uniform(3, 4)
    print("angles:", [round(angle, 5) for angle in sphere.dist(x, y).tolist()])
    print("on the sphere:", sphere.check_point_on_manifold(sphere.expmap(x, sphere.proju(x, y))))
    p, q = hyperbola.random_normal(3, 4), hyperbola.random_normal(3, 4)
    print("far apart:", [round(value, 5) for value in hyperbola.dist(p, q).tolist()])
    positive = geoopt.SymmetricPositiveDefinite()
    a, b = positive.random(3, 3), positive.random(3, 3)
    print(f"matrices: {positive.dist(a, b).item():.6f}, {positive.inner(a, b, b).item():.6f}")


def main() -> None:
    torch.manual_seed(2)
    torch.set_default_dtype(torch.float64)
    eigenvectors()
    tree()
    distances()


if __name__ == "__main__":
    main()
