"""skorch: a network as a scikit-learn estimator, fitted, searched over and used in a pipeline."""

import numpy as np
import torch
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skorch import NeuralNetClassifier, NeuralNetRegressor
from torch import nn


class Network(nn.Module):
    """Two layers, with probabilities as the result."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        layers = [nn.Linear(20, width), nn.ReLU(), nn.Dropout(0.2), nn.Linear(width, 2), nn.Softmax(-1)]
        self.layers = nn.Sequential(*layers)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


torch.manual_seed(0)
x, y = make_classification(400, 20, n_informative=10, random_state=0)
x, y = x.astype(np.float32), y.astype(np.int64)
net = NeuralNetClassifier(Network, max_epochs=10, lr=0.1, iterator_train__shuffle=True, verbose=0)
pipeline = make_pipeline(StandardScaler(), net).fit(x, y)
for row in net.history[::3]:
    print(f"epoch {row['epoch']}: train {row['train_loss']:.4f}, valid {row['valid_loss']:.4f}, {row['valid_acc']:.3f}")
first = [round(float(p), 3) for p in pipeline.predict_proba(x[:1])[0]]
print(f"score {pipeline.score(x, y):.3f}, first probabilities {first}")
net.set_params(verbose=0, train_split=None)
search = GridSearchCV(net, {"module__width": [4, 16], "lr": [0.05, 0.1]}, cv=2, scoring="accuracy").fit(x, y)
print(f"best of the search: {search.best_params_}, accuracy {search.best_score_:.3f}")
sizes = {"module__in_features": 20, "module__out_features": 1}
regressor = NeuralNetRegressor(nn.Linear, **sizes, max_epochs=5, lr=0.01, verbose=0)
regressor.fit(x, y.astype(np.float32)[:, None])
print(f"regression: last losses {regressor.history[-1, 'train_loss']:.4f}, {regressor.history[-1, 'valid_loss']:.4f}")
