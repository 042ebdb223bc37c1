"""pytorch-lightning: a trainer fits a small network, keeps the best checkpoint and stops early."""

import logging
import tempfile
import warnings

import pytorch_lightning
import torch
from pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")


class Regression(pytorch_lightning.LightningModule):
    """A network with its losses and its optimizer."""

    def __init__(self, width: int = 16, lr: float = 0.02) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.network = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, 1))

    def training_step(self, batch: list[torch.Tensor], index: int) -> torch.Tensor:
        loss = nn.functional.mse_loss(self.network(batch[0]), batch[1])
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch: list[torch.Tensor], index: int) -> None:
        self.log("valid_loss", nn.functional.mse_loss(self.network(batch[0]), batch[1]))

    def configure_optimizers(self) -> dict[str, object]:
        optimizer = torch.optim.AdamW(self.parameters(), lr=self.hparams["lr"])
        return {"optimizer": optimizer, "lr_scheduler": torch.optim.lr_scheduler.StepLR(optimizer, 4, 0.5)}


pytorch_lightning.seed_everything(0, verbose=False)
x = torch.rand(256, 2) * 2 - 1
data = TensorDataset(x, torch.sin(3 * x[:, :1]) * x[:, 1:])
train = DataLoader(data, batch_size=32, shuffle=True)
valid = DataLoader(data, batch_size=64)
with tempfile.TemporaryDirectory() as folder:
    best = ModelCheckpoint(dirpath=folder, monitor="valid_loss", save_top_k=1)
    trainer = pytorch_lightning.Trainer(
        max_epochs=8, accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False,
        callbacks=[best, EarlyStopping("valid_loss", patience=3)], gradient_clip_val=1.0, default_root_dir=folder,
    )
    model = Regression()
    trainer.fit(model, train, valid)
    print(f"epochs {trainer.current_epoch}, train loss {trainer.callback_metrics['train_loss']:.4f}")
    print(f"valid loss {trainer.callback_metrics['valid_loss']:.4f}, best {best.best_model_score:.4f}")
    again = Regression.load_from_checkpoint(best.best_model_path)
    (scores,) = trainer.validate(again, valid, verbose=False)
    print(f"from the checkpoint: {scores['valid_loss']:.4f}, {dict(again.hparams)}")
